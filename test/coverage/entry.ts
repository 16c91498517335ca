/** A test that exercises something: the file it stands in and a piece of its title or of its row. */
export type TestRef = { file: string; title: string };

/**
 * Where in the package something of the document is: a node and the labels on the way to a
 * parameter, joined by →, ending in `output` for what comes out; or a file with what it does.
 */
export type Entry = { at: string; tests: TestRef[] };

type Written = { at: string; test: TestRef | TestRef[] };

/** The entries of one section of the document. */
export type SectionEntries = {
	section: string;
	/** For each item that has no line of its own. */
	every?: Written;
	/** By the item's name, or by its number where it is a rule. A lone text leaves the test as in `every`. */
	items?: { [name: string]: string | TestRef | TestRef[] | Written };
};

const inFile =
	(file: string) =>
	(title: string): TestRef => ({ file, title });

/** Rows of the contract suite: they run against every dialect. */
export const contract = (cases: string) => inFile(`test/contract/cases/${cases}.ts`);
export const inTest = (name: string) => inFile(`test/${name}.test.ts`);
export const inNode = (name: string) => inTest(`nodes/${name}`);

export function resolve(section: SectionEntries, name: string): Entry | undefined {
	const { every } = section;
	const own = ownOf(section, name);
	const at = placeOf(own) ?? every?.at;
	const test = testOf(own) ?? every?.test;
	return at === undefined || test === undefined ? undefined : { at, tests: [test].flat() };
}

/** Whether the item takes its place or its test from what holds for the whole section. */
export function leansOnEvery(section: SectionEntries, name: string): boolean {
	const own = ownOf(section, name);
	return placeOf(own) === undefined || testOf(own) === undefined;
}

function ownOf({ items = {} }: SectionEntries, name: string): Own {
	return items[name] ?? items[/^\d+\./.exec(name)?.[0] ?? name];
}

type Own = string | TestRef | TestRef[] | Written | undefined;

function placeOf(own: Own): string | undefined {
	if (typeof own === 'string') return own;
	if (own === undefined || Array.isArray(own)) return undefined;
	return 'at' in own ? own.at : undefined;
}

function testOf(own: Own): TestRef | TestRef[] | undefined {
	if (own === undefined || typeof own === 'string') return undefined;
	return 'test' in own ? own.test : own;
}
