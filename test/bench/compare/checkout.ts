/** A built checkout of another commit, beside the repository's own. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const execute = promisify(execFile)
const root = fileURLToPath(new URL('../../../../', import.meta.url))

/** The reference is no commit of the repository, or its checkout cannot be built. */
export class CheckoutError extends Error {}

/** The executable of this checkout, which is built. */
export const ownExecutable = executableIn(root)

function executableIn(folder: string): string {
  return join(folder, 'packages', 'shardlab', 'bin', 'shardlab.js')
}

/**
 * Makes the checkout, or uses that of an earlier run: it is in the folder for temporary files, by
 * the commit's hash.
 * @param onProgress called with what takes long
 * @throws CheckoutError
 */
export async function executableOf(reference: string, onProgress: (doing: string) => void): Promise<string> {
  const commit = await commitOf(reference)
  const folder = join(tmpdir(), `shardlab-bench-${commit.slice(0, 12)}`)
  const executable = executableIn(folder)
  const built = join(folder, 'packages', 'shardlab', 'dist', 'src', 'index.js')
  if (existsSync(built)) return executable
  onProgress(`building ${reference} in ${folder}`)
  try {
    if (!existsSync(folder)) {
      await execute('git', ['clone', '--quiet', '--no-checkout', root, folder])
      await execute('git', ['checkout', '--quiet', '--detach', commit], { cwd: folder })
    }
    await execute('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder })
    await execute('npm', ['run', 'build'], { cwd: folder })
  } catch (error) {
    throw new CheckoutError(`compare: ${reference} cannot be built in ${folder}: ${textOf(error)}`)
  }
  return executable
}

async function commitOf(reference: string): Promise<string> {
  try {
    const { stdout } = await execute('git', ['rev-parse', '--verify', '--quiet', `${reference}^{commit}`], {
      cwd: root,
    })
    return stdout.trim()
  } catch {
    throw new CheckoutError(`compare: ${reference} is no commit of this repository; name a branch, tag or hash.`)
  }
}

function textOf(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string }
  return (stderr?.trim() || message).split('\n').slice(-5).join('\n')
}
