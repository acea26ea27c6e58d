{{- define "decision.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "decision.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "decision.labels" -}}
{{ include "decision.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "decision.checks" -}}
{{- if and (not .Values.keys.fileSecret) (not .Values.keys.secret) (not .Values.keys.allowUnauthenticated) -}}
{{- fail "set keys.fileSecret or keys.secret to the name of a secret, or keys.allowUnauthenticated to true" -}}
{{- end -}}
{{- if and .Values.autoscaling.enabled .Values.podDisruptionBudget.enabled (lt (int .Values.autoscaling.minReplicas) 1) -}}
{{- fail "autoscaling.minReplicas takes 1 or more" -}}
{{- end -}}
{{- end }}

{{- /* The image, by digest if there is one. */ -}}
{{- define "decision.image" -}}
{{- $repository := required "set image.repository to the place of your image" .Values.image.repository -}}
{{- with .Values.image.digest -}}
{{- printf "%s@%s" $repository . -}}
{{- else -}}
{{- printf "%s:%s" $repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end }}

{{- /* A value as the text of a variable. Helm itself would print 1000000 as 1e+06 and a list as [a b]. */ -}}
{{- define "decision.text" -}}
{{- if kindIs "string" . -}}
{{- . -}}
{{- else if kindIs "slice" . -}}
{{- range $index, $item := . -}}
{{- if $index }},{{ end }}{{ include "decision.text" $item -}}
{{- end -}}
{{- else -}}
{{- toJson . -}}
{{- end -}}
{{- end }}

{{- /* HTTPS if the service has a certificate. */ -}}
{{- define "decision.scheme" -}}
{{- $certificate := get (.Values.options | default dict) "DECISION_TLS_CERT" -}}
{{- range .Values.extraEnv }}{{ if eq .name "DECISION_TLS_CERT" }}{{ $certificate = .name }}{{ end }}{{ end -}}
{{- if $certificate }}HTTPS{{ else }}HTTP{{ end -}}
{{- end }}
