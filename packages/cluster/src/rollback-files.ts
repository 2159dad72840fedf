/** The files of rollbacks, which members keep on their disks. */
import { RequestFailedError, type Address, type RequestOf, type ReplyOf } from '@shardlab/actor'
import { Binary, decode } from '@shardlab/bson'
import type { Runtime } from '@shardlab/runtime'
import { knownMember } from './composition.js'
import { replyOf } from './answer-command.js'
import { OptionError } from './option-error.js'

/** Documents of one collection, which a rollback has removed or overwritten. */
export interface RollbackFile {
  readonly member: Address
  readonly set: Address
  /** Below the server's dbPath: `rollback/<uuid>/removed.<time>.<number>.bson`. */
  readonly path: string
  readonly ns: string
  readonly documents: number
  readonly sizeBytes: number
  /** Milliseconds since the epoch. */
  readonly atMs: number
  /**
   * BSON documents, one after the other, as mongorestore and bsondump read them.
   * @throws OptionError if the member does not run or has deleted the file
   */
  read(): Promise<Uint8Array>
}

/** A paused member does not answer. */
const timeoutMs = 5000
/** Of one message, and of one reply to a client. */
const partBytesMax = 8 * 1024 * 1024

export function rollbackFilesOf(runtime: Runtime): Promise<RollbackFile[]> {
  return runtime.during(list(runtime))
}

async function list(runtime: Runtime): Promise<RollbackFile[]> {
  const members = runtime.members().filter(({ address, set, state }) => set !== address && state === 'running')
  const lists = await Promise.all(
    members.map(async ({ address: member, set }) => {
      const reply = await answerOf(runtime.background.request(member, 'replication.rollback-files', {}, { timeoutMs }))
      return (reply?.files ?? []).map(([path, ns, documents, sizeBytes, atMs]) => ({
        ...{ member, set, path, ns, documents, sizeBytes, atMs },
        read: () => runtime.during(readAll(runtime, member, path, sizeBytes)),
      }))
    }),
  )
  return lists.flat().toSorted((a, b) => a.atMs - b.atMs)
}

async function readAll(runtime: Runtime, member: Address, path: string, sizeBytes: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(sizeBytes)
  for (let offset = 0; offset < sizeBytes;) {
    const part = await readPart(runtime, member, path, offset)
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}

/** @throws OptionError */
async function readPart(runtime: Runtime, member: Address, path: string, offset: number): Promise<Uint8Array> {
  const request = { path, offset, bytesMax: partBytesMax }
  const asked = runtime.background.request(member, 'replication.read-rollback-file', request, { timeoutMs })
  const bytes = (await answerOf(asked))?.bytes ?? null
  if (bytes === null) throw new OptionError(`${member} has no file ${path}, or does not answer.`)
  return bytes
}

/** null: no answer. */
async function answerOf<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof RequestFailedError) return null
    throw error
  }
}

export const rollbackFileVerbs: ReadonlySet<string> = new Set(['rollbackFiles', 'readRollbackFile'])

/** Serves the verbs of the command `shardlab` about these files. */
export function answerAboutRollbackFiles(
  runtime: Runtime,
  { verb, body }: RequestOf<'cluster.command'>,
): Promise<ReplyOf<'cluster.command'>> {
  return replyOf(async () => {
    if (verb === 'rollbackFiles')
      return {
        files: (await list(runtime)).map(({ member, set, path, ns, documents, sizeBytes, atMs }) => ({
          ...{ member, set, path, ns, documents, sizeBytes },
          at: new Date(atMs),
        })),
      }
    const { member, path, offset = 0 } = decode(body, { promoteLongs: true })
    if (typeof member !== 'string' || typeof path !== 'string' || typeof offset !== 'number' || !(offset >= 0))
      throw new OptionError('readRollbackFile needs a member and a path, as rollbackFiles shows them, and an offset.')
    return { bytes: new Binary(await readPart(runtime, setMember(runtime, member), path, offset)) }
  })
}

/** @throws OptionError for a member that is in no set of several members */
function setMember(runtime: Runtime, name: string): Address {
  const member = knownMember(runtime, name)
  if (runtime.member(member)!.set === member)
    throw new OptionError(`${member} has no rollbacks: its set has one member.`)
  return member
}
