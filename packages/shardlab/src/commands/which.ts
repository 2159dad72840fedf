import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { WhichProgram } from './which-options.js'

export function which(program: WhichProgram): void {
  process.stdout.write(`${program === 'folder' ? serversFolder() : join(serversFolder(), program)}\n`)
}

/** This file is at another depth in the published package, so search upwards. */
function serversFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'bin', 'servers'))) {
    const parent = dirname(folder)
    if (parent === folder) throw new Error('the package has no folder bin/servers')
    folder = parent
  }
  return join(folder, 'bin', 'servers')
}
