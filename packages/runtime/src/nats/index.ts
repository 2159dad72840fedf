export { BrokerError, type Broker } from './broker.js'
export { Machine, type MachineOptions } from './machine.js'
export { createNatsRuntime } from './nats-runtime.js'
export { type MachineTimings, type NatsRuntimeOptions, type Placement, spreadOver } from './nats-options.js'
