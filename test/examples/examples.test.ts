import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { IDataObject, INode } from 'n8n-workflow';
import { z } from 'zod';
import { loader, makeWorkflow, setupAllNodes } from '../engine';
import { exampleFiles, examplesFolder, readExample, recipesFolder } from '../n8n/examples';
import { packageName, projectFolder } from '../n8n/package-install';
import { parametersIn } from '../package/descriptions';

const STICKY = 'n8n-nodes-base.stickyNote';
const DATA_TABLE = 'n8n-nodes-base.dataTable';

beforeAll(setupAllNodes);

describe('the examples', () => {
	test('are sixteen, and the README links to each with its picture', () => {
		const readme = readFileSync(join(projectFolder, 'README.md'), 'utf8');
		expect(exampleFiles().map((file) => file.slice(0, 2))).toEqual(
			Array.from({ length: 16 }, (_, index) => String(index + 1).padStart(2, '0')),
		);
		for (const file of exampleFiles()) {
			const picture = `docs/images/example-${basename(file, '.json')}.png`;
			expect(readme).toContain(`(examples/${file})`);
			expect(readme).toContain(`(${picture})`);
			expect(existsSync(join(projectFolder, picture))).toBe(true);
		}
	});

	describe.each(exampleFiles())('%s', (file) => {
		const text = readFileSync(join(examplesFolder, file), 'utf8');
		const { nodes } = readExample(file);
		const working = nodes.filter(({ type }) => type !== STICKY);

		test('is inactive, and contains no credentials and no data', () => {
			expect(z.record(z.unknown()).parse(JSON.parse(text))).toMatchObject({ active: false });
			expect(text).not.toMatch(/"(credentials|pinData|staticData|instanceId)":/);
		});

		test('runs on n8n Cloud: without files, commands, and code', () => {
			const types = working.map(({ type }) => type.split('.').pop());
			expect(types).not.toContain('readWriteFile');
			expect(types).not.toContain('executeCommand');
			expect(types).not.toContain('code');
			expect(text).not.toMatch(/localhost|127\.0\.0\.1|\/home\/|\.n8n/);
		});

		test('keeps the columns of data tables when a panel is opened', () => {
			// If the ID of the table is an expression, n8n's editor clears and saves columns that are mapped manually.
			const mapped = working.filter(
				({ type, parameters }) => type === DATA_TABLE && parameters.resource !== 'table',
			);
			const modes = mapped.flatMap(({ parameters }) =>
				'columns' in parameters
					? [z.object({ mappingMode: z.string() }).parse(parameters.columns)]
					: [],
			);
			expect(modes.filter(({ mappingMode }) => mappingMode !== 'autoMapInputData')).toEqual([]);
		});

		test('uses parameters that our nodes have', () => {
			const ours = working.filter(({ type }) => type.startsWith(`${packageName}.`));
			expect(ours.length).toBeGreaterThan(0);
			for (const { name, type, parameters } of ours) {
				const known = namesOf(type.replace(`${packageName}.`, '').replace(/(Hitl)?Tool$/, ''));
				expect([name, namesIn(parameters).filter((one) => !known.has(one))]).toEqual([name, []]);
			}
		});
	});
});

test('no node is deactivated, except two of the three CRMs of example 03', () => {
	const deactivated = exampleFiles().flatMap((file) =>
		readExample(file).nodes.flatMap(({ name, disabled }) =>
			disabled === true ? [`${file}: ${name}`] : [],
		),
	);
	expect(deactivated).toEqual([
		'03-new-lead-call.json: Update Zoho CRM',
		'03-new-lead-call.json: Update Salesforce',
	]);
});

describe('on n8n 3', () => {
	const recipes = readdirSync(recipesFolder).filter((file) => file.endsWith('.json'));
	const all = [
		...exampleFiles().map((file) => readExample(file)),
		...recipes.map((file) => readExample(file, recipesFolder)),
	];
	const ofAll = (isAffected: (node: INode) => boolean) =>
		all.flatMap(({ name, nodes }) =>
			nodes.filter(isAffected).map((node) => `${name}: ${node.name}`),
		);

	test('no branch relies on the empty item of a node whose other outputs have items', () => {
		const severalOutputs = ({ type, onError }: INode) => {
			const own = loader.types.nodes.find(({ name }) => `${packageName}.${name}` === type);
			const isBranch = /[.](if|switch|textClassifier|compareDatasets)$/.test(type);
			return isBranch || (own?.outputs.length ?? 1) > 1 || onError === 'continueErrorOutput';
		};
		const flagged = ofAll((node) => node.alwaysOutputData === true && severalOutputs(node));
		expect(flagged).toEqual([]);
	});

	test('no workflow uses a node, a mode, or a helper that is removed', () => {
		const removed = ofAll(({ type, typeVersion, parameters }) => {
			const [name = ''] = type.split('.').slice(-1);
			const isGone = ['function', 'functionItem', 'itemLists', 'aiTransform'].includes(name);
			const runsEach = name === 'executeWorkflow' && parameters.mode === 'each';
			const usesHelper = /\$(getPairedItem|evaluateExpression)/.test(JSON.stringify(parameters));
			return isGone || runsEach || usesHelper || (name === 'agent' && typeVersion < 2);
		});
		expect(removed).toEqual([]);
	});
});

test('13 says of a call that could not be read that its outcome is unknown, and why', () => {
	const page = readExample('13-test-call.json').nodes.filter(({ name }) => name === 'Outcome');
	const [{ completionTitle = '', completionMessage = '' } = {}] = page.map(
		({ parameters }) => parameters,
	);
	// Any node with this name.
	const type = `${packageName}.agents`;
	const { expression } = makeWorkflow(page.map((node) => ({ ...node, type, parameters: {} })));
	const shown = (json: IDataObject) =>
		[completionTitle, completionMessage].map((text) =>
			expression.getParameterValue(text, null, 0, 0, 'Outcome', [{ json }], 'manual', {}),
		);
	const timedOut = { call_id: 'c-1', timed_out: true };
	expect(shown(timedOut)).toEqual(["The call hasn't ended yet", '<p>Call ID: c-1</p>']);
	expect(shown({ ...timedOut, not_read: 'The service is down.' })).toEqual([
		"It's unknown whether the call has ended",
		'<p>The service is down.</p><p>Call ID: c-1</p>',
	]);
});

/** Every name in the parameters of a node, including members of collections. */
function namesIn(value: unknown): string[] {
	if (Array.isArray(value)) return value.flatMap(namesIn);
	if (typeof value !== 'object' || value === null || '__rl' in value) return [];
	return Object.entries(value).flatMap(([name, inner]) => [name, ...namesIn(inner)]);
}

/** The names of a node's parameters and groups. */
function namesOf(type: string): Set<string> {
	const description = loader.types.nodes.find(({ name }) => name === type);
	const properties = parametersIn(description?.properties ?? [], type);
	return new Set(
		properties.flatMap(({ property }) => [
			property.name,
			...(property.options ?? []).flatMap((option) => ('values' in option ? [option.name] : [])),
		]),
	);
}
