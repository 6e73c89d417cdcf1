{{/* References of images. */}}

{{/* Of `image`, with the registry, tag and digest that belong to it. */}}
{{- define "watchtap.reference" -}}
{{- $remedy := "image.repository: no image of watchtap is published yet, so name yours (docs/image.md builds one)" }}
{{- $repository := required $remedy .image.repository }}
{{- with default .image.registry .registry }}{{ . }}/{{ end }}{{ $repository }}
{{- if .image.digest }}@{{ .image.digest }}{{ else }}:{{ default .version .image.tag }}{{ end }}
{{- end }}

{{- define "watchtap.image" -}}
{{- $registry := ((.Values.global).image).registry }}
{{- include "watchtap.reference" (dict "image" .Values.image "registry" $registry "version" .Chart.AppVersion) }}
{{- end }}

{{/* A digest belongs to one repository and one tag, so another one of these has none. */}}
{{- define "watchtap.sidecar.image" -}}
{{- $own := .Values.webhook.sidecar.image }}
{{- $digest := ternary .Values.image.digest "" (and (empty $own.repository) (empty $own.tag)) }}
{{- $image := dict
      "registry" (default .Values.image.registry $own.registry)
      "repository" (default .Values.image.repository $own.repository)
      "tag" (default .Values.image.tag $own.tag)
      "digest" (default $digest $own.digest) }}
{{- $registry := default ((.Values.global).image).registry $own.registry }}
{{- include "watchtap.reference" (dict "image" $image "registry" $registry "version" .Chart.AppVersion) }}
{{- end }}

{{/* `cpu=10m,memory=32Mi`, as flags have it. */}}
{{- define "watchtap.quantities" -}}
{{- range $index, $resource := keys . | sortAlpha }}
{{- if $index }},{{ end }}{{ $resource }}={{ get $ $resource }}
{{- end }}
{{- end }}
