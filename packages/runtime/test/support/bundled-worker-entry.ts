import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { buildSync } from 'esbuild'
import type { Test } from 'tap'

/**
 * The workers of the toys as one file: a worker that loads it needs a quarter of the CPU time of
 * one that loads its modules one by one.
 * @param t the root test, whose folder contains the file
 */
export function bundledWorkerEntry(t: Pick<Test, 'testdir'>): URL {
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(new URL('./worker-entry.js', import.meta.url))],
    bundle: true,
    format: 'esm',
    platform: 'node',
    external: ['@mongodb-js/saslprep', 'snappy'],
    write: false,
  })
  return pathToFileURL(join(t.testdir({ 'worker-entry.mjs': outputFiles[0]!.text }), 'worker-entry.mjs'))
}
