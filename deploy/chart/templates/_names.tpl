{{/* Names and labels, by the rules of `helm create`. */}}

{{- define "watchtap.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* 42 characters leave room for `-webhook-certificate`. Names of releases may have dots, and begin with a digit; those of Services may
     not, before Kubernetes 1.34. */}}
{{- define "watchtap.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) }}
{{- $full = default $full .Values.fullnameOverride | replace "." "-" | trunc 42 | trimAll "-" }}
{{- if regexMatch "^[0-9]" $full }}
{{- fail (printf "fullnameOverride: the name of a Service cannot begin with a digit, as %s does. Set another name" $full) }}
{{- end }}
{{- $full }}
{{- end }}

{{- define "watchtap.webhook" -}}
{{- include "watchtap.fullname" . }}-webhook
{{- end }}

{{- define "watchtap.labels.own" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/name: {{ include "watchtap.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: watchtap
{{- end }}

{{/* Labels of an object: those of the chart, and of the user. One of `more` goes before the same one of `commonLabels`. */}}
{{- define "watchtap.labels.with" -}}
{{ include "watchtap.labels.own" .root }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- with merge (dict) (default (dict) .more) (default (dict) .root.Values.commonLabels) }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "watchtap.webhook.labels" -}}
{{ include "watchtap.labels.with" (dict "root" . "component" "webhook") }}
{{- end }}

{{- define "watchtap.webhook.selector" -}}
app.kubernetes.io/name: {{ include "watchtap.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: webhook
{{- end }}
