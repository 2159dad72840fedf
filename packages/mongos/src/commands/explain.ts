import { CommandArguments, type CommandRow } from '@shardlab/actor'
import { DocumentWriter, firstFieldName } from '@shardlab/bson'
import {
  cannotExplain,
  explainedCommand,
  explainableFields,
  explainSpec,
  handwrittenParserIn,
  unknownCommand,
  unknownFieldsIn,
  verbosityOf,
} from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { explainPipeline } from '../explain/explain-pipeline.js'
import { explainOnShards } from '../explain/explain-on-shards.js'

export const explain: CommandRow<MongosInvocation> = {
  ...explainSpec,
  routing: 'shard-key',
  status: 'partial',
  deviations: ['D300', 'D301', 'D601', 'D603', 'D604', 'D605'],
  summary: 'Shows where a command would go and how the shards would run it.',
  run(invocation): Promise<DocumentWriter> {
    const { args, db, host } = invocation
    const verbosity = verbosityOf(args, host.behaviours)
    const body = explainedCommand(args, db)
    const name = firstFieldName(body) ?? ''
    const { language } = host.behaviours
    const fields = explainableFields(name, language)
    if (fields === undefined)
      throw host.commandRows.some((row) => row.name === name) ? cannotExplain(name) : unknownCommand(body)
    const inner: MongosInvocation = {
      ...invocation,
      body,
      args: CommandArguments.parse(
        body,
        fields,
        [],
        unknownFieldsIn(language, name),
        handwrittenParserIn(language, name),
      ),
      sequences: [],
      txnNumber: null,
      explain: invocation.body,
    }
    return name === 'aggregate' ? explainPipeline(inner, verbosity) : explainOnShards(inner, verbosity)
  },
}
