import { posix } from 'node:path'
import type { Finding, Repository } from '../model/repository.js'

/** `[text](target)`, outside of code spans. */
const link = /\[[^\]]*\]\(([^)\s]+)\)/g

/**
 * Relative links between pages lead to existing files.
 *
 * @param exists whether there is a file or folder at a path relative to the root
 */
export function findBrokenLinks(repository: Repository, exists: (path: string) => boolean): Finding[] {
  const findings: Finding[] = []
  for (const { path, text } of repository.files.values()) {
    if (!path.endsWith('.md')) continue
    let inFence = false
    text.split('\n').forEach((content, i) => {
      if (content.startsWith('```')) inFence = !inFence
      if (inFence) return
      for (const [, target] of content.replaceAll(/`[^`]*`/g, '').matchAll(link)) {
        if (/^(?:[a-z]+:|#)/.test(target!)) continue
        const file = posix.join(posix.dirname(path), target!.replace(/#.*$/, ''))
        if (!exists(file)) findings.push({ path, line: i + 1, message: `links to ${target}, which does not exist` })
      }
    })
  }
  return findings
}
