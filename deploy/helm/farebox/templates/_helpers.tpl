{{/* What all processes share: names, labels, environment, files, and rights that they lack. */}}

{{- define "farebox.name" -}}
{{- printf "%s" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "farebox.labels" -}}
app.kubernetes.io/name: farebox
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "farebox.selector" -}}
app.kubernetes.io/name: farebox
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "farebox.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- define "farebox.env" -}}
{{- range .Values.secret.keys }}
- name: {{ . }}_FILE
  value: /run/farebox/secrets/{{ . }}
{{- end }}
{{- if .Values.trustedProxies }}
- name: TRUSTED_PROXIES
  value: {{ .Values.trustedProxies | quote }}
{{- end }}
{{- if .Values.config }}
- name: FAREBOX_CONFIG
  value: /run/farebox/config/farebox.config.json
{{- end }}
{{- range $name, $value := .Values.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{- define "farebox.mounts" -}}
- name: secrets
  mountPath: /run/farebox/secrets
  readOnly: true
{{- if .Values.config }}
- name: config
  mountPath: /run/farebox/config
  readOnly: true
{{- end }}
- name: tmp
  mountPath: /tmp
{{- end -}}

{{- define "farebox.volumes" -}}
- name: secrets
  secret:
    secretName: {{ .Values.secret.name }}
    defaultMode: 0440
    items:
      {{- range .Values.secret.keys }}
      - key: {{ . }}
        path: {{ . }}
      {{- end }}
{{- if .Values.config }}
- name: config
  configMap:
    name: {{ include "farebox.name" . }}
{{- end }}
- name: tmp
  emptyDir: {}
{{- end -}}

{{- define "farebox.container" -}}
image: {{ include "farebox.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}

{{- define "farebox.pod" -}}
automountServiceAccountToken: false
# Variables that Kubernetes makes of Services could be taken for settings.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
