import { OPEN_PLACES, type Treatment } from '../../nodes/shared/apiMapping/places';
import { itemsOfDocument, type Item } from './document';
import { entries } from './entries';
import { resolve, type Entry } from './entry';

export function entryOf({ section, name }: Item): Entry | undefined {
	const found = entries.find((one) => one.section === section);
	return found === undefined ? undefined : resolve(found, name);
}

const TREATMENTS: { [treatment in Treatment]: string } = {
	asked: 'Asked from the user',
	passedThrough: 'Passed through',
	notReliedOn: 'Not relied on',
};

const INTRODUCTION = `# What covers what

Each endpoint, field, parameter, state, event, close code, status, error, limit and rule of [the service’s document](service-api.md), where it is in the package, and the test that exercises it. Generated from \`test/coverage\` by \`npm run coverage:table\`; a test fails when something of the document has no line here, when a named test does not exist, and when this file is not current.

“Node → label → output” are the labels on the screen. Tests under \`test/contract/cases\` run against every dialect of the simulated service.`;

/** The whole of docs/coverage.md. */
export function coverageTable(): string {
	const items = itemsOfDocument();
	const sections = [...new Set(items.map(({ section }) => section))];
	const tables = sections.map((section) => {
		const rows = items.filter((item) => item.section === section).map(rowOf);
		return [`## ${section}`, '', '| item | in the package | test |', '| - | - | - |', ...rows].join(
			'\n',
		);
	});
	return [INTRODUCTION, ...tables, openPlaces()].join('\n\n') + '\n';
}

function rowOf(item: Item): string {
	const { at = '', tests = [] } = entryOf(item) ?? {};
	const named = tests.map(({ file, title }) => `${code(file)}: ${inCell(shown(title))}`);
	return `| ${code(item.name)} | ${inCell(at)} | ${named.join('<br>')} |`;
}

function openPlaces(): string {
	const rows = Object.values(OPEN_PLACES).map(
		({ section, quote, treatment, how }) =>
			`| ${inCell(section)}: “${inCell(quote)}” | ${TREATMENTS[treatment]} | ${inCell(how)} |`,
	);
	return [
		'## What the document leaves open',
		'',
		'Each of its places that say “not shown” or “not stated”. `test/nodes/shared/apiMapping/places.test.ts` walks the document; the contract suite gives each a different answer.',
		'',
		'| place | treatment | how |',
		'| - | - | - |',
		...rows,
	].join('\n');
}

/** Rules are sentences, everything else is a name. */
const code = (text: string) => (/^\d+\. | .* /.test(text) ? inCell(text) : `\`${text}\``);

/** The title alone, where the piece has the marks around it that stand in the test file. */
function shown(piece: string): string {
	const [, double, single] = /^[[(\s\w:]*?(?:"([^"]+)"?|'([^']+)'?)/.exec(piece) ?? [];
	return double ?? single ?? piece;
}

const inCell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
