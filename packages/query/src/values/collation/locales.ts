/** Manual: reference/collation-locales-defaults. */

const plain =
  'af sq am hy as be bs_Cyrl bg my chr zh_Hant nl dz en en_US en_US_POSIX eo et ee fo fil fr fr_CA ka el gu ha haw hi hu ig id ga it kk km ' +
  'kok ky lkt lo lv lt dsb lb mk ms ml mt mr mn ne or om ps fa fa_AF pl pt pa ro ru sr sl sw ta te th bo to uk hsb ur ug wae cy yo zu'

const withVariants: Readonly<Record<string, string>> = {
  ar: 'compat',
  az: 'search',
  bn: 'traditional',
  bs: 'search',
  ca: 'search',
  zh: 'big5han gb2312han unihan zhuyin',
  hr: 'search',
  cs: 'search',
  da: 'search',
  fi: 'search traditional',
  gl: 'search',
  de: 'search eor phonebook',
  de_AT: 'phonebook',
  he: 'search',
  is: 'search',
  smn: 'search',
  ja: 'unihan',
  kl: 'search',
  kn: 'traditional',
  ko: 'search searchjl unihan',
  ln: 'phonetic',
  se: 'search',
  nb: 'search',
  nn: 'search',
  sr_Latn: 'search',
  si: 'dictionary',
  sk: 'search',
  es: 'search traditional',
  sv: 'search',
  tr: 'search',
  vi: 'traditional',
  yi: 'search',
}

const variants = new Map<string, ReadonlySet<string>>([
  ...plain.split(' ').map((name): [string, ReadonlySet<string>] => [name, new Set()]),
  ...Object.entries(withVariants).map(([name, list]): [string, ReadonlySet<string>] => [
    name,
    new Set(list.split(' ')),
  ]),
])

/** `de@collation=phonebook` is the locale `de` with the variant `phonebook`. */
export interface CollationLocale {
  readonly name: string
  readonly variant: string | null
}

/** Null unless the locale is known and written exactly as ICU writes it. */
export function collationLocale(id: string): CollationLocale | null {
  const at = id.indexOf('@')
  const name = at < 0 ? id : id.slice(0, at)
  const known = variants.get(name)
  if (known === undefined) return null
  if (at < 0) return { name, variant: null }
  const variant = /^@collation=(\w+)$/.exec(id.slice(at))?.[1]
  return variant !== undefined && known.has(variant) ? { name, variant } : null
}

/**
 * The locale that ICU would use instead: in its spelling, without the parts that it has no rules
 * for; null for none.
 */
export function nearestLocale(id: string): string | null {
  const parts = id.split('@')[0]!.split(/[-_]/)
  const spelled = parts.map((part, index) =>
    index === 0
      ? part.toLowerCase()
      : part.length === 4
        ? part[0]!.toUpperCase() + part.slice(1).toLowerCase()
        : part.toUpperCase(),
  )
  for (let length = spelled.length; length > 0; length--) {
    const name = spelled.slice(0, length).join('_')
    if (variants.has(name)) return name
  }
  return null
}

const bcpVariants: Readonly<Record<string, string>> = {
  phonebook: 'phonebk',
  traditional: 'trad',
  dictionary: 'dict',
  gb2312han: 'gb2312',
}

/**
 * BCP 47: `de-u-co-phonebk`. The variant `search` is a usage of `Intl.Collator` and not part of the
 * tag.
 */
export function languageTag({ name, variant }: CollationLocale): string {
  const tag = name === 'en_US_POSIX' ? 'en-US-u-va-posix' : name.replaceAll('_', '-')
  return variant === null || variant === 'search' ? tag : `${tag}-u-co-${bcpVariants[variant] ?? variant}`
}
