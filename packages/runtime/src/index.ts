export * from './gateway/index.js'
export type { GatewayOpener, OpenedGateway } from './host/gateway-opener.js'
export { defaultWatched } from './host/event-sink.js'
export { defaultLimits, type HostLimits } from './host/limits.js'
export type { StepFaultAction } from './host/step-faults.js'
export { createInlineRuntime, type InlineRuntime, type InlineRuntimeOptions } from './inline/inline-runtime.js'
export * from './runtime.js'
export type { HostsOption } from './threads/layout.js'
export { createThreadsRuntime, type ThreadsRuntimeOptions } from './threads/threads-runtime.js'
export { runWorkerHost, type RoleLoader, type WorkerHostOptions } from './threads/worker-host.js'
export type { LatencyOption, LatencyRange } from './simulated/latency.js'
export {
  createSimulatedRuntime,
  SimulationFailedError,
  type SimulatedRuntime,
  type SimulatedRuntimeOptions,
} from './simulated/simulated-runtime.js'
