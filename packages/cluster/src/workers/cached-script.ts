import { existsSync, readFileSync } from 'node:fs'
import { Script } from 'node:vm'

/**
 * V8 compiles a script with a code cache in a fraction of the time. With another version of
 * Node.js, or other flags, it refuses the cache and compiles the source.
 * @param cachePath may be missing
 * @param sourceOf the script for the text of the file
 */
export function cachedScript(
  filename: string,
  cachePath: string,
  sourceOf: (text: string) => string = (text) => text,
): Script {
  const cache = existsSync(cachePath) ? { cachedData: readFileSync(cachePath) } : {}
  // latin1 suffices: esbuild writes ASCII, by its option `charset`.
  return new Script(sourceOf(readFileSync(filename, 'latin1')), { filename, ...cache })
}
