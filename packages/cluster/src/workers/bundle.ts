import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'

/** A script whose value is a function of {@link Wrapper}'s form. */
const bundleUrl = new URL('../../workers/member.worker.cjs', import.meta.url)
/**
 * With another version of Node.js, or other flags, V8 refuses its code cache and compiles the
 * source.
 */
export const codeCacheUrl = new URL('../../workers/member.worker.cache', import.meta.url)

type Member = typeof import('./member.worker.js')
type Wrapper = (exports: object, require: NodeJS.Require, module: { exports: object }, bundleUrl: string) => void

export interface EvaluatedBundle {
  readonly member: Member
  readonly script: Script
}

export function evaluateBundle(): EvaluatedBundle {
  const filename = fileURLToPath(bundleUrl)
  const cachedData = existsSync(codeCacheUrl) ? { cachedData: readFileSync(codeCacheUrl) } : {}
  // latin1 suffices: esbuild writes ASCII (`charset` in scripts/bundle.mjs).
  const script = new Script(readFileSync(bundleUrl, 'latin1'), { filename, ...cachedData })
  const module = { exports: {} }
  const wrapper = script.runInThisContext() as Wrapper
  wrapper(module.exports, createRequire(bundleUrl), module, bundleUrl.href)
  return { member: module.exports as Member, script }
}
