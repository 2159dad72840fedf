import { CommandArguments, type CommandRow } from '@shardlab/actor'
import { DocumentWriter, firstFieldName } from '@shardlab/bson'
import {
  explainableFields,
  writeServerInfo,
  writeServerParameters,
  cannotExplain,
  explainedCommand,
  explainSpec,
  handwrittenParserIn,
  shownCommand,
  unknownCommand,
  unknownFieldsIn,
  verbosityOf,
  type Verbosity,
  withoutExplain,
  queryShapeHashOf,
  withoutQuerySettings,
} from '@shardlab/member'
import { explainerOf } from '../read/explain/explainers.js'
import type { NodeInvocation } from '../host/node-host.js'

export const explain: CommandRow<NodeInvocation> = {
  ...explainSpec,
  routing: 'shard-key',
  status: 'partial',
  deviations: ['D300', 'D301', 'D601', 'D603', 'D604'],
  summary: 'Shows how a command is executed.',
  run(invocation) {
    const { host, args, db } = invocation
    const verbosity = verbosityOf(args, host.behaviours)
    return explainCommand(invocation, withoutQuerySettings(explainedCommand(args, db)), verbosity)
  },
}

/**
 * @param body the explained command
 * @throws CommandError 20 IllegalOperation, 59 CommandNotFound, and the errors of the explained
 *   command itself
 */
async function explainCommand(
  invocation: NodeInvocation,
  body: Uint8Array,
  verbosity: Verbosity,
): Promise<DocumentWriter> {
  const { host, db } = invocation
  const name = firstFieldName(body) ?? ''
  const { language } = host.behaviours
  const fields = explainableFields(name, language)
  if (fields === undefined)
    throw host.table.find(name, host.behaviours) === undefined ? unknownCommand(body) : cannotExplain(name)
  const args = CommandArguments.parse(
    body,
    fields,
    [],
    unknownFieldsIn(language, name),
    handwrittenParserIn(language, name),
  )
  const inner: NodeInvocation = { ...invocation, body, args, retryable: null }
  const ns = args.target.isNumber() ? `${db}.$cmd.aggregate` : `${db}.${args.collectionName(db)}`
  const access = await host.role.enter(ns, invocation)
  const writer = new DocumentWriter(2048)
  const { explainIsVersioned } = host.behaviours
  if (explainIsVersioned) writer.string('explainVersion', '1')
  const { isPipeline } = await explainerOf(name).explain({ invocation: inner, ns, access, verbosity }, writer)
  if (host.behaviours.explainHasQueryShapeHash) writeShapeHash(writer, invocation, body)
  if (explainIsVersioned && !isPipeline) writer.document('command', shownCommand(body, db))
  if (!isPipeline || host.behaviours.explainShowsWholePlans) writeServerParameters(writeServerInfo(writer, host), host)
  return explainIsVersioned && isPipeline ? writer.document('command', shownCommand(body, db)) : writer
}

function writeShapeHash(writer: DocumentWriter, { db, ofView }: NodeInvocation, body: Uint8Array): void {
  const hash = queryShapeHashOf(ofView ?? body, db)
  if (hash !== null) writer.string('queryShapeHash', hash)
}

/** For `{ aggregate, explain: true }`. */
export function explainItself(invocation: NodeInvocation): Promise<DocumentWriter> {
  return explainCommand(invocation, withoutExplain(invocation.body), 'queryPlanner')
}
