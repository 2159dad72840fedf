export type { SampledWrites } from '../host/node-host.js'
