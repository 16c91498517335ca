/** The entries of one version in CHANGELOG.md, without its heading. Undefined if it has none. */
export function notesOf(changelog: string, version: string): string | undefined {
	const section = changelog
		.split(/^## /m)
		.find((part) => part.startsWith(`[${version}] - `) && DATED.test(part));
	const notes = section?.slice(section.indexOf('\n')).trim();
	return notes === '' ? undefined : notes;
}

const DATED = /^\[[^\]]+\] - \d{4}-\d{2}-\d{2}\n/;
