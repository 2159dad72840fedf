/** Server: repl/apply_ops.cpp. */
import { BsonType, CommandError, DocumentWriter, findField, noCode } from '@shardlab/bson'
import type { NodeInvocation } from '../host/node-host.js'
import { applyCommand } from './apply-command.js'
import { applyDocument } from './apply-document.js'
import { isIndexNamespace, readApplyOps, type ApplyOpsRequest } from './apply-ops-request.js'
import { asIndexBuild } from './index-insert.js'
import { firstName, readOperation, type Operation } from './operation.js'
import { checkPreConditions } from './pre-conditions.js'
import { allOrNothing } from './undo.js'

/** `{ applied, results }` @throws CommandError with both as further fields */
export async function applyOperations(invocation: NodeInvocation, body: Uint8Array): Promise<DocumentWriter> {
  const request = readApplyOps(body, invocation.host.behaviours)
  refuseMixedDropDatabase(request, invocation)
  checkPreConditions(invocation, request.preConditions)
  const atomic = request.isAtomic ? await applyAll(invocation, request) : null
  return atomic ?? applyEach(invocation, request)
}

/** @throws CommandError 6275900 */
function refuseMixedDropDatabase({ operations }: ApplyOpsRequest, { host }: NodeInvocation): void {
  if (!host.behaviours.applyOpsParsesEntries || operations.length === 1) return
  const drops = operations.some((operation) => {
    if (findField(operation, 'op')!.asString() !== 'c') return false
    const object = findField(operation, 'o')
    return object?.type === BsonType.object && firstName(object.slice()) === 'dropDatabase'
  })
  if (drops) throw new CommandError(6275900, 'dropDatabase in an applyOps must be the only entry')
}

/** @returns null: cannot be atomic, nothing has changed */
async function applyAll(invocation: NodeInvocation, request: ApplyOpsRequest): Promise<DocumentWriter | null> {
  const { host } = invocation
  const written = request.operations.filter((document) => !isNoop(document))
  const operations: Operation[] = []
  for (const document of written) {
    const ns = findField(document, 'ns')!.asString()
    // Like an unknown field of an operation, this makes the server apply each on its own.
    if (findField(document, 'op')!.asString() !== 'd' && host.collection(ns) === undefined) return null
    const operation = readable(document, invocation)
    if (operation === null) return null
    operations.push(operation)
  }
  await enterAll(invocation, operations)
  let applied = 0
  try {
    await allOrNothing(host, async () => {
      for (const operation of operations) {
        checkNamespace(operation)
        const applying = applyDocument(invocation, operation, { alwaysUpsert: request.alwaysUpsert, isAtomic: true })
        const failure = applying instanceof Promise ? await applying : applying
        if (failure !== null) throw failure
        applied++
      }
    })
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    throw withResults(error, new Array<boolean>(applied + 1).fill(false))
  }
  await host.flush()
  return writeResults(new Array<boolean>(applied).fill(true))
}

function readable(document: Uint8Array, { host }: NodeInvocation): Operation | null {
  try {
    return readOperation(document, host.behaviours)
  } catch (error) {
    if (error instanceof CommandError) return null
    throw error
  }
}

/** Await nothing between this and the changes. */
async function enterAll(invocation: NodeInvocation, operations: readonly Operation[]): Promise<void> {
  const names = [...new Set(operations.map(({ ns }) => ns))]
  for (let at = 0; at < names.length; at++) {
    const entering = invocation.host.role.enter(names[at]!, invocation)
    if (!(entering instanceof Promise)) continue
    await entering
    // The others may be blocked by now.
    at = -1
  }
}

async function applyEach(invocation: NodeInvocation, request: ApplyOpsRequest): Promise<DocumentWriter> {
  const { host } = invocation
  const results: boolean[] = []
  for (const document of request.operations) {
    if (isNoop(document)) continue
    try {
      results.push((await applyOne(invocation, document, request)) === null)
    } catch (error) {
      if (!(error instanceof CommandError) || error instanceof InvalidNamespaceOfWrite) throw error
      await host.flush()
      if (host.behaviours.applyOpsMode === 'lenient') throw error
      results.push(false)
      throw withResults(error, results)
    }
  }
  await host.flush()
  if (!results.includes(false)) return writeResults(results)
  throw host.behaviours.applyOpsMode === 'lenient'
    ? withResults(new CommandError(noCode, ''), results)
    : withResults(new CommandError('UnknownError', 'applyOps had one or more errors applying ops'), results)
}

async function applyOne(
  invocation: NodeInvocation,
  document: Uint8Array,
  { alwaysUpsert }: ApplyOpsRequest,
): Promise<CommandError | null> {
  const { host } = invocation
  const { behaviours } = host
  if (!findField(document, 'op')!.asString().startsWith('c'))
    checkNamespace({ ns: findField(document, 'ns')!.asString() })
  const read = readOperation(document, behaviours)
  const buildsIndex = behaviours.applyOpsBuildsIndexes && read.op === 'i' && isIndexNamespace(read.ns)
  const operation = buildsIndex ? asIndexBuild(read) : read
  if (!operation.op.startsWith('c')) {
    await host.role.enter(operation.ns, invocation)
    return applyDocument(invocation, operation, { alwaysUpsert, isAtomic: false })
  }
  await applyCommand(invocation, operation, async (command) => void (await applyOperations(invocation, command)))
  return null
}

function isNoop(document: Uint8Array): boolean {
  return findField(document, 'op')!.asString().startsWith('n')
}

/** Without results, unlike other errors. */
class InvalidNamespaceOfWrite extends CommandError {}

function checkNamespace({ ns }: { readonly ns: string }): void {
  if (ns.indexOf('.') < 1 || ns.endsWith('.'))
    throw new InvalidNamespaceOfWrite('InvalidNamespace', `invalid ns: ${ns}`)
}

function writeResults(results: readonly boolean[], writer = new DocumentWriter(64)): DocumentWriter {
  writer.int32('applied', results.length).startArray('results')
  for (const [at, result] of results.entries()) writer.bool(String(at), result)
  return writer.end()
}

function withResults(error: CommandError, results: readonly boolean[]): CommandError {
  return new CommandError(error.code, error.message, {
    errorLabels: error.errorLabels,
    extra: writeResults(results).finish(),
    cause: error,
  })
}
