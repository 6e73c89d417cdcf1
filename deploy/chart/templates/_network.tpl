{{/* Parts of network policies. */}}

{{/* The peers that may read metrics. */}}
{{- define "watchtap.network.metricsFrom" -}}
{{- if .Values.networkPolicy.metricsFrom }}
{{- toYaml .Values.networkPolicy.metricsFrom }}
{{- else -}}
- namespaceSelector: {}
{{- end }}
{{- end }}

{{/* To the API server. Policies see its own port, not that of the Service `kubernetes`. */}}
{{- define "watchtap.network.toApiServer" -}}
- ports:
    - port: 443
      protocol: TCP
    {{- if ne (int .Values.networkPolicy.apiServerPort) 443 }}
    - port: {{ .Values.networkPolicy.apiServerPort }}
      protocol: TCP
    {{- end }}
{{- end }}
