{{/* The objects of a probe. The argument has the chart (`root`), the name of the component (`part`), and its values (`values`). */}}

{{- define "watchtap.probe.name" -}}
{{- include "watchtap.fullname" .root }}-{{ .part }}
{{- end }}

{{- define "watchtap.probe.labels" -}}
{{- include "watchtap.labels.with" (dict "root" .root "component" .part "more" .more) }}
{{- end }}

{{- define "watchtap.probe.selector" -}}
app.kubernetes.io/name: {{ include "watchtap.name" .root | quote }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{/* The probe asks the API server for one object: the EndpointSlice with its own addresses, in the namespace `default`. It never lists or
     watches. */}}
{{- define "watchtap.probe.rights" -}}
{{- $name := include "watchtap.probe.name" . }}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ $name }}
  namespace: {{ .root.Release.Namespace | quote }}
  labels:
    {{- include "watchtap.probe.labels" . | nindent 4 }}
automountServiceAccountToken: false
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ $name }}
  namespace: default
  labels:
    {{- include "watchtap.probe.labels" . | nindent 4 }}
rules:
  - apiGroups: [discovery.k8s.io]
    resources: [endpointslices]
    resourceNames: [kubernetes]
    verbs: [get]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ $name }}
  namespace: default
  labels:
    {{- include "watchtap.probe.labels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ $name }}
subjects:
  - kind: ServiceAccount
    name: {{ $name }}
    namespace: {{ .root.Release.Namespace | quote }}
{{- end }}

{{- define "watchtap.probe.daemonset" -}}
{{- $name := include "watchtap.probe.name" . }}
{{- $root := .root }}
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace | quote }}
  labels:
    {{- include "watchtap.probe.labels" . | nindent 4 }}
spec:
  revisionHistoryLimit: 3
  selector:
    matchLabels:
      {{- include "watchtap.probe.selector" . | nindent 6 }}
  updateStrategy:
    type: RollingUpdate
    rollingUpdate:
      maxUnavailable: {{ .values.maxUnavailable }}
  template:
    metadata:
      labels:
        {{- include "watchtap.probe.selector" . | nindent 8 }}
        {{- with merge (dict) (default (dict) .values.podLabels) (default (dict) $root.Values.commonLabels) }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with .values.podAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ $name }}
      automountServiceAccountToken: true
      enableServiceLinks: false
      # The probe knows processes by the numbers that the node gives them.
      hostPID: true
      {{- with $root.Values.imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .values.priorityClassName }}
      priorityClassName: {{ . | quote }}
      {{- end }}
      containers:
        # `watchtap attach` looks for this name.
        - name: watchtap
          image: {{ include "watchtap.image" $root | quote }}
          {{- with $root.Values.image.pullPolicy }}
          imagePullPolicy: {{ . }}
          {{- end }}
          args:
            - probe
            - --in-cluster
            - --metrics=[::]:9643
            # Names of static pods end with it.
            - --node-name=$(NODE_NAME)
            {{- if .serverEnds }}
            - --server-ends=alone
            {{- end }}
            {{- range .values.apiServers }}
            - {{ printf "--api-server=%s" . | quote }}
            {{- end }}
            {{- range .values.extraArguments }}
            - {{ . | quote }}
            {{- end }}
          env:
            - name: NODE_NAME
              valueFrom:
                fieldRef:
                  fieldPath: spec.nodeName
          ports:
            - name: watchtap
              containerPort: 9643
              protocol: TCP
          # Ready if the node allows a probe. There is no liveness probe: a restart would lose what the probe knows.
          readinessProbe:
            httpGet:
              path: /ready
              port: watchtap
            periodSeconds: 5
            failureThreshold: 2
          {{- with .values.resources }}
          resources:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          # Less than any of these, and the probe sees less, or nothing (docs/probe-check.md).
          securityContext:
            runAsNonRoot: false
            runAsUser: 0
            runAsGroup: 0
            privileged: false
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities:
              drop: [ALL]
              add: [BPF, PERFMON, SYS_PTRACE, DAC_READ_SEARCH, CHECKPOINT_RESTORE{{ if .values.olderKernels }}, SYS_ADMIN, SYS_RESOURCE{{ end }}]
            seccompProfile:
              type: RuntimeDefault
            {{- with .values.appArmorProfile }}
            appArmorProfile:
              type: {{ . }}
            {{- end }}
            {{- with .values.seLinuxType }}
            seLinuxOptions:
              type: {{ . }}
            {{- end }}
          volumeMounts:
            # The socket of `watchtap attach`.
            - name: watchtap-own
              mountPath: /var/run/secrets/watchtap/own
            # A container sees its own cgroup only. The others lead to the containers of processes.
            - name: cgroups
              mountPath: /sys/fs/cgroup
              readOnly: true
            # The names of the folders have the names of pods.
            - name: logs
              mountPath: /var/log/pods
              readOnly: true
      volumes:
        - name: watchtap-own
          emptyDir:
            medium: Memory
            sizeLimit: 1Mi
        - name: cgroups
          hostPath:
            path: /sys/fs/cgroup
            type: Directory
        - name: logs
          hostPath:
            path: /var/log/pods
            type: Directory
      {{- if .values.affinity }}
      affinity:
        {{- toYaml .values.affinity | nindent 8 }}
      {{- else if .serverEnds }}
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - key: node-role.kubernetes.io/control-plane
                    operator: Exists
      {{- end }}
      {{- with .values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end }}

{{/* Metrics from the pods of the cluster, and requests to the API server. Probes of the kubelet come from the node, and are always allowed. */}}
{{- define "watchtap.probe.networkPolicy" -}}
{{- $policy := .root.Values.networkPolicy }}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "watchtap.probe.name" . }}
  namespace: {{ .root.Release.Namespace | quote }}
  labels:
    {{- include "watchtap.probe.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "watchtap.probe.selector" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    - ports:
        - port: 9643
          protocol: TCP
      from:
        {{- include "watchtap.network.metricsFrom" .root | nindent 8 }}
  egress:
    {{- include "watchtap.network.toApiServer" .root | nindent 4 }}
    {{- $names := false }}
    {{- range .values.apiServers }}
    {{- if and (not (hasPrefix "[" .)) (regexMatch "[A-Za-z]" .) }}{{ $names = true }}{{ end }}
    {{- end }}
    {{- if $names }}
    # Names in apiServers are resolved again and again. Policies see the port of the DNS server's pod: 5353 in OpenShift.
    - ports:
        {{- range (list 53 5353) }}
        - port: {{ . }}
          protocol: UDP
        - port: {{ . }}
          protocol: TCP
        {{- end }}
    {{- end }}
{{- end }}

{{- define "watchtap.probe.podMonitor" -}}
{{- $monitor := .root.Values.podMonitor }}
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata:
  name: {{ include "watchtap.probe.name" . }}
  namespace: {{ .root.Release.Namespace | quote }}
  labels:
    {{- include "watchtap.probe.labels" (merge (dict "more" $monitor.labels) .) | nindent 4 }}
spec:
  selector:
    matchLabels:
      {{- include "watchtap.probe.selector" . | nindent 6 }}
  podMetricsEndpoints:
    - port: watchtap
      {{- with $monitor.interval }}
      interval: {{ . | quote }}
      {{- end }}
      relabelings:
        # Rules keep this label. A request that several probes observe is counted once in each job.
        - targetLabel: job
          replacement: watchtap-{{ .part }}
        - sourceLabels: [__meta_kubernetes_pod_node_name]
          targetLabel: node
{{- end }}
