import { lineAt, passagesOf } from '../model/prose.js'
import type { Finding, Repository, SourceFile } from '../model/repository.js'

export const longestProseLine = 100

/**
 * Wording that a reader has to translate, and what to write. A floor: docs/HACKING.md says how we
 * write.
 */
const patterns: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [
    /\b(?:whoever|whomever|nobody|somebody|he who|those who|who (?:asks?|hears?|waits?|listens?|wants?|holds?|comes?|knows?|looks?|reads?|has|is|gets?|takes?|does))\b/gi,
    'name what acts: the caller, the waiters, the donor, the client',
  ],
  [
    /[.:;] (?:What|Whatever) (?!(?:is|are|does|do|was|if|about|to|you|happens|the) .*\?)[a-z][^.?]*[.,;:]/g,
    'begin with the subject, not with a clause that stands for a noun',
  ],
  [/\b(?:goes|go|went|going) on\b(?! top|ly)/gi, 'write continues, resumes or proceeds'],
  [/\b(?:begins?|began|begun|starts?) anew\b/gi, 'write restarts or retries'],
  [/\blet(?:s|ting)? (?:(?!that |who |which |to |go )[a-z`]+ ){1,5}wait\b/gi, 'write blocks'],
  [/\b(?:from|since) v?\d\.\d(?:\.\d)? on\b/gi, 'write since 8.0'],
  [/\bup to v?\d\.\d(?:\.\d)?\b/gi, 'write until 7.0, or a range such as 4.4 to 6.0'],
  [
    /\b(?:heed|forsake|forsook|beget|anew|hitherto|thereof|therein|wherein|amid|midst|lest|spoilt|mended|dearer|aforesaid)\w*\b/gi,
    'use the plain word: respect, abort, again, earlier, inside, during, more expensive',
  ],
  [
    /(?<!\bthere )\bis no (?:verb|step|number|string|document|field|member|command|name|option|size|key|object|array|date|shard|host|file|event|unit|such)\b/gi,
    'write is not a …, or say that the value is unknown or invalid',
  ],
  [
    /\b(?:tells?|told) (?:of|nobody|everybody|which|whether|how|what|about|from)\b/gi,
    'write reports, shows or distinguishes',
  ],
  [/\b(?:hears?|heard)\b/gi, 'write receives or learns'],
  [
    /\b(?:comes?|stands?|lies|lie|lying|stood) (?:behind|beside|aside)\b/gi,
    'write follows, is next to, or is stored in',
  ],
  [/\bcarr(?:y|ies|ied) (?:it |them |on )?to (?:its|their|the) end\b/gi, 'write completes'],
  [
    /\b(?:(?:is|are|was|were|be|been|being) given up|(?:gives?|gave|given) (?:itself|its \w+) up)\b/gi,
    'write aborts, stops or releases',
  ],
  [/\b(?:meanwhile knows?|knows? nothing|knows? better|any ?more than)\b/gi, 'say what is stored or compared'],
  [/\bas (?:it|they) (?:came|lies?|lay)\b/gi, 'write unchanged'],
  [/\b(?:none|nothing|no one) (?:looks|asks|waits|takes|holds|listens)\b/gi, 'name what acts'],
  [/\bit (?:has|is) to be (?:seen|asked|looked|told|known)\b/gi, 'begin with the subject'],
]

/** The same, at the beginning of a paragraph or table cell of a page. */
const pagePatterns: typeof patterns = [
  [
    /^(?:What|Whatever) (?!(?:is|are|does|do|was|if|about|to|you|happens|the) .*\?)[a-z][^.?]*[.,;:]/g,
    'begin with the subject, not with a clause that stands for a noun',
  ],
]

/** The same, in the name of a test. */
const testNamePatterns: typeof patterns = [
  [/^(?:what|whatever|who|whose|that|how) (?![^.]*\?).{0,40}/g, 'write a claim that can be true or false'],
]

/** Comments, pages and test names are in plain English, and their lines fit. */
export function findOddProse(repository: Repository): Finding[] {
  return [...repository.files.values()].filter(({ path }) => /\.(?:ts|mjs|md)$/.test(path)).flatMap(findingsOf)
}

function findingsOf(file: SourceFile): Finding[] {
  const findings: Finding[] = []
  const isPage = file.path.endsWith('.md')
  for (const passage of passagesOf(file)) {
    const ofPlace = passage.isTestName ? testNamePatterns : isPage ? pagePatterns : []
    for (const [pattern, instead] of [...patterns, ...ofPlace]) {
      for (const match of passage.text.matchAll(pattern)) {
        const line = lineAt(passage, match.index + match[0].search(/\w/))
        findings.push({ path: file.path, line, message: `${instead} ('${match[0].slice(0, 60)}')` })
      }
    }
  }
  return [...findings, ...wideLines(file)].sort((a, b) => a.line - b.line)
}

/**
 * Lines of a comment, or of a page outside of fences, that hold more than a link or a table row.
 */
function wideLines({ path, text }: SourceFile): Finding[] {
  const isPage = path.endsWith('.md')
  const mayBeWide = isPage
    ? /^\s*\||https?:|^\s*!?\[[^\]]*\]\([^)]*\)\S*$|^<|`[^`]{60,}`/
    : /https?:|oxlint|@ts-|^\s*\*?\s*\|/
  let inFence = false
  return text.split('\n').flatMap((content, i): Finding[] => {
    if (isPage && /^\s*```/.test(content)) inFence = !inFence
    if (inFence || content.length <= longestProseLine || mayBeWide.test(content)) return []
    if (!isPage && !/^\s*(?:\/\*|\*|\/\/)/.test(content)) return []
    const message = `is ${content.length} characters wide, more than ${longestProseLine}: wrap it`
    return [{ path, line: i + 1, message }]
  })
}
