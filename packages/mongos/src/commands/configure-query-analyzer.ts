import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { checkAnalysedNamespace, onNamedNamespace } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'
import { withDatabase } from '../routing/primary.js'

const samplesPerSecondMax = 50

/** Server: cluster_configure_query_analyzer_cmd.cpp, configure_query_analyzer_cmd.cpp. */
export const configureQueryAnalyzer: CommandRow<MongosInvocation> = {
  name: 'configureQueryAnalyzer',
  behaviour: 'queryAnalyzer',
  routing: 'primary-shard',
  access: 'admin',
  privileges: onNamedNamespace('configureQueryAnalyzer'),
  adminOnly: true,
  manual: 'reference/command/configureQueryAnalyzer',
  status: 'partial',
  deviations: ['D860', 'D861', 'D863'],
  summary: 'Starts or stops the sampling of queries on a collection.',
  fields: { mode: 'string!', samplesPerSecond: 'number' },
  unknownFields: 'ignored',
  async run(invocation) {
    const { args, host, operation } = invocation
    const ns = args.targetString()
    const [db] = checkAnalysedNamespace(ns)
    const configuration = configurationOf(invocation)
    return withDatabase({ ...invocation, db }, db, false, async (database) => {
      if (database === null) throw new CommandError('NamespaceNotFound', `database ${db} not found`)
      const { oldConfiguration, error } = await host.remote.request(
        database.primaryShard,
        'shard.configure-query-analyzer',
        { ns, configuration, databaseVersion: database.version },
        operation,
      )
      raise(error)
      const writer = new DocumentWriter(256).document('newConfiguration', configuration)
      return oldConfiguration === null ? writer : writer.document('oldConfiguration', oldConfiguration)
    })
  },
}

/**
 * `{ mode, samplesPerSecond }`.
 * @throws CommandError 2 BadValue for an unknown mode, 72 InvalidOptions
 */
function configurationOf({ args }: MongosInvocation): Uint8Array {
  const mode = args.string('mode')!
  if (mode !== 'full' && mode !== 'off')
    throw new CommandError(
      'BadValue',
      `Enumeration value '${mode}' for field 'configureQueryAnalyzer.mode' is not a valid value.`,
    )
  const rate = args.number('samplesPerSecond')
  if (mode === 'off') {
    if (rate !== undefined)
      throw new CommandError('InvalidOptions', `Cannot specify 'samplesPerSecond' when 'mode' is "off"`)
    return new DocumentWriter(64).string('mode', mode).finish()
  }
  if (rate === undefined)
    throw new CommandError('InvalidOptions', `'samplesPerSecond' must be specified when 'mode' is not "off"`)
  if (rate <= 0) throw new CommandError('InvalidOptions', "'samplesPerSecond' must be greater than 0")
  if (rate > samplesPerSecondMax)
    throw new CommandError('InvalidOptions', `'samplesPerSecond' must be less than or equal to ${samplesPerSecondMax}`)
  return new DocumentWriter(64).string('mode', mode).double('samplesPerSecond', rate).finish()
}
