import { ingressParameters } from './ingress-parameters.js'
import { parseLogComponents, verbositiesOf, writeLogComponents } from './log-components.js'
import type { ParameterRow } from './parameter.js'
import { analyzeShardKeyParameters, queryAnalysisParameters } from './query-analysis-parameters.js'

const runtime = { settableAtRuntime: true, settableAtStartup: true } as const
const startup = { settableAtRuntime: false, settableAtStartup: true } as const
const intMax = 0x7fff_ffff

const mechanisms = ['MONGODB-X509', 'SCRAM-SHA-1', 'SCRAM-SHA-256']

/** Only with its initial value: another one would have no effect. */
const fixed = <Name extends string, Value extends boolean | number>(name: Name, initial: Value) =>
  ({
    name,
    initial,
    ...startup,
    refusal: { accepts: initial, code: 'CommandNotSupported', message: `${name} is always ${initial}` },
  }) as const

/**
 * A role has more parameters of its own. Tables hold parameters whose effect clients see, and those
 * whose effect cannot be seen in an emulated cluster. A parameter whose visible effect is not
 * implemented is in no table, so that setting it fails.
 */
export const memberParameters = [
  { ...fixed('acceptApiVersion2', false), type: 'bool', behaviour: 'stableApi' },
  ...analyzeShardKeyParameters,
  {
    name: 'authenticationMechanisms',
    type: 'strings',
    initial: mechanisms,
    // The server ends when it starts with another one.
    values: mechanisms,
    ...startup,
  },
  {
    name: 'authSchemaVersion',
    type: 'document',
    initial: '',
    settableAtRuntime: false,
    settableAtStartup: false,
    write: (writer, name, { behaviours }) => void writer.int32(name, behaviours.authSchemaVersion),
  },
  { name: 'cursorTimeoutMillis', type: 'long', initial: 600_000, ...runtime },
  { name: 'diagnosticDataCollectionEnabled', type: 'bool', initial: false, ...runtime },
  { name: 'enableLocalhostAuthBypass', type: 'bool', initial: true, ...startup },
  { ...fixed('enableTestCommands', true), type: 'bool' },
  ...ingressParameters,
  { ...fixed('localLogicalSessionTimeoutMinutes', 30), type: 'int' },
  {
    name: 'logComponentVerbosity',
    type: 'document',
    initial: '',
    ...runtime,
    behaviour: 'logHasComponents',
    write: (writer, name, { parameters }) =>
      writeLogComponents(
        writer,
        name,
        parameters.number('logLevel'),
        verbositiesOf(parameters.string('logComponentVerbosity')),
      ),
    parse(value, { parameters }) {
      const { logLevel, own } = parseLogComponents(value, {
        logLevel: parameters.number('logLevel'),
        own: verbositiesOf(parameters.string('logComponentVerbosity')),
      })
      return [
        ['logLevel', logLevel],
        ['logComponentVerbosity', own],
      ]
    },
  },
  { name: 'logLevel', type: 'int', initial: 0, min: 0, max: intMax, ...runtime },
  { ...fixed('logicalSessionRefreshMillis', 300_000), type: 'int' },
  { name: 'maxSessions', type: 'int', initial: 1_000_000, ...startup },
  ...queryAnalysisParameters,
  { name: 'quiet', type: 'bool', initial: false, ...runtime },
  { name: 'scramIterationCount', type: 'int', initial: 10_000, min: 5000, ...runtime, behaviour: 'scramParameters' },
  {
    name: 'scramSHA256IterationCount',
    type: 'int',
    initial: 15_000,
    min: 5000,
    ...runtime,
    behaviour: 'scramParameters',
  },
] as const satisfies readonly ParameterRow[]

export type MemberParameterName = (typeof memberParameters)[number]['name']
