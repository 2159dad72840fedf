import { createInlineRuntime } from '../src/index.js'
import { liveSuite } from './support/live-suite.js'
import { runtimeSuite } from './support/runtime-suite.js'
import { toyRoles } from './support/toy-roles.js'

const world = { name: 'inline', create: () => createInlineRuntime({ roles: toyRoles, seed: 1 }) }

runtimeSuite(world)
liveSuite(world)
