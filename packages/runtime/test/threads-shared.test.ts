import { createThreadsRuntime } from '../src/index.js'
import { liveSuite } from './support/live-suite.js'
import { runtimeSuite } from './support/runtime-suite.js'

const workerEntry = new URL('./support/worker-entry.js', import.meta.url)
const world = { name: 'threads, two shared workers', create: () => createThreadsRuntime({ workerEntry, seed: 1, hosts: 2 }) }

runtimeSuite(world)
liveSuite(world)
