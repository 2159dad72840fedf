/**
 * The files in which a member keeps documents of rollbacks. They are on its disk, next to its data.
 * Server: remove_saver.cpp; manual: core/replica-set-rollbacks.
 */
import type { RequestOf, ReplyOf, RollbackFileTuple, RolledBackNamespace } from '@shardlab/actor'
import { DocumentWriter, findField } from '@shardlab/bson'
import { uuidText } from '@shardlab/member'
import type { Behaviours } from '@shardlab/sharding'
import type { DiskWithDocuments } from '../storage/disk-with-documents.js'
import type { RolledBack } from './rolled-back.js'

export interface RollbackFilesParts {
  readonly disk: DiskWithDocuments
  readonly behaviours: Behaviours
  readonly now: () => number
  /** The parameter createRollbackDataFiles. */
  readonly isOn: () => boolean
  /** The oldest files were deleted, so that the others have at most so many bytes. */
  readonly onLimit: (bytesMax: number) => void
}

const folder = 'rollback/'
/** The newest file is kept even if it is larger. A server keeps all. */
export const rollbackFilesBytesMax = 64 * 1024 * 1024

export class RollbackFiles {
  readonly #parts: RollbackFilesParts

  constructor(parts: RollbackFilesParts) {
    this.#parts = parts
  }

  /** @throws DiskFullError as a rejection; it may be called again */
  async save(rolledBack: readonly RolledBack[]): Promise<RolledBackNamespace[]> {
    const saved: RolledBackNamespace[] = []
    for (const { ns, uuid, entries, documents } of rolledBack) {
      const isSaved = this.#parts.isOn() && uuid !== null && documents.length > 0
      const file = isSaved ? await this.#write(ns, uuid, documents) : null
      saved.push({ ns, entries, documents: documents.length, file })
    }
    return saved
  }

  /** Oldest first. */
  list(): RollbackFileTuple[] {
    return this.#paths.map((path) => {
      const file = this.#parts.disk.document(path)!
      return [
        path,
        findField(file, 'ns')!.asString(),
        findField(file, 'documents')!.asNumber(),
        this.#bytesOf(path).length,
        Number(findField(file, 'at')!.asBigInt()),
      ]
    })
  }

  read({
    path,
    offset,
    bytesMax,
  }: RequestOf<'replication.read-rollback-file'>): ReplyOf<'replication.read-rollback-file'> {
    if (!this.#paths.includes(path)) return { bytes: null }
    return { bytes: this.#bytesOf(path).subarray(offset, offset + bytesMax) }
  }

  get #paths(): string[] {
    return this.#parts.disk.names().filter((name) => name.startsWith(folder))
  }

  #bytesOf(path: string): Uint8Array {
    return findField(this.#parts.disk.document(path)!, 'bytes')!.asBinary()
  }

  async #write(ns: string, uuid: Uint8Array, documents: readonly Uint8Array[]): Promise<string> {
    const { disk, now } = this.#parts
    const bytes = Buffer.concat(documents)
    await this.#makeRoom(bytes.length)
    const path = this.#pathOf(ns, uuid)
    const file = new DocumentWriter(bytes.length + 128)
      .string('ns', ns)
      .int32('documents', documents.length)
      .date('at', now())
      .binary('bytes', 0, bytes)
      .finish()
    await disk.storeDocument(path, file)
    return path
  }

  async #makeRoom(sizeBytes: number): Promise<void> {
    const paths = this.#paths
    let keptBytes = paths.reduce((sum, path) => sum + this.#bytesOf(path).length, sizeBytes)
    if (keptBytes <= rollbackFilesBytesMax) return
    for (const path of paths) {
      keptBytes -= this.#bytesOf(path).length
      await this.#parts.disk.removeDocument(path)
      if (keptBytes <= rollbackFilesBytesMax) break
    }
    this.#parts.onLimit(rollbackFilesBytesMax)
  }

  /** A server numbers the files of a process; here the number also survives restarts. */
  #pathOf(ns: string, uuid: Uint8Array): string {
    const { now, behaviours } = this.#parts
    const numbers = this.#paths.map((path) => Number(/\.(\d+)\.bson$/.exec(path)![1]))
    const number = Math.max(-1, ...numbers) + 1
    const time = new Date(now()).toISOString().slice(0, 19).replaceAll(':', '-')
    const directory = behaviours.rollbackDirectory === 'uuid' ? uuidText(uuid) : ns
    return `${folder}${directory}/removed.${time}.${number}.bson`
  }
}
