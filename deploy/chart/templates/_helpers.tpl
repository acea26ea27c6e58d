{{- define "decision.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "decision.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "decision.labels" -}}
{{ include "decision.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
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
