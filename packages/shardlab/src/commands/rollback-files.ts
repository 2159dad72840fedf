import { counted, readableSize } from '@shardlab/quantities'
import type { Binary } from '@shardlab/bson'
import { dirname, join } from 'node:path'
import { replyFrom } from '../admin-client.js'
import { makeDirectory, save } from './output-file.js'
import type { RollbackFilesOptions } from './rollback-files-options.js'

interface ListedFile {
  readonly member: string
  readonly path: string
  readonly ns: string
  readonly documents: number
  readonly sizeBytes: number
}

/** @throws ConnectError @throws OutputError */
export async function rollbackFiles({ uri, save: folder, json }: RollbackFilesOptions): Promise<void> {
  const reply = await replyFrom(uri, { shardlab: 'rollbackFiles' })
  const files = reply['files'] as ListedFile[]
  if (json === true) process.stdout.write(`${JSON.stringify(reply)}\n`)
  else process.stdout.write(files.length === 0 ? 'No rollback has removed documents.\n' : files.map(lineOf).join(''))
  if (folder === undefined) return
  for (const file of files) {
    const path = join(folder, file.member, file.path)
    makeDirectory(dirname(path))
    save(path, await contentOf(uri, file))
  }
  if (json !== true && files.length > 0) process.stdout.write(`Saved in ${folder}.\n`)
}

function lineOf({ member, path, ns, documents, sizeBytes }: ListedFile): string {
  return `${member}  ${ns}, ${counted(documents, 'document')}, ${readableSize(sizeBytes)}: ${path}\n`
}

async function contentOf(uri: string, { member, path, sizeBytes }: ListedFile): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for (let offset = 0; offset < sizeBytes;) {
    const reply = await replyFrom(uri, { shardlab: 'readRollbackFile', member, path, offset })
    const { buffer } = reply['bytes'] as Binary
    parts.push(buffer)
    offset += buffer.length
  }
  return Buffer.concat(parts)
}
