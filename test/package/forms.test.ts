/**
 * Snapshots of what saved workflows depend on: a line per parameter with its type, default, and conditions, and the
 * node's subtitle, inputs, outputs, credentials, and webhooks. Check that each difference is intended, then run
 * `npm test -- -u test/package/forms.test.ts`.
 */
import pick from 'lodash/pick';
import uniq from 'lodash/uniq';
import type { INodeProperties } from 'n8n-workflow';
import { CREDENTIAL } from '../../nodes/host/http/credential';
import { loader, makeNode, makeWorkflow, nodeTypes, PACKAGE, setupAllNodes } from '../engine';
import { keysOf } from '../schema/schemas';
import { choicesOf, NODES, TEXTS } from './descriptions';

expect.addSnapshotSerializer({
	test: (value) => typeof value === 'string',
	serialize: (value) => String(value),
});

beforeAll(setupAllNodes);

const NODE_SETTINGS = [
	...['version', 'subtitle', 'inputs', 'outputs', 'outputNames', 'credentials', 'webhooks'],
];
/** n8n adds 'Poll Times', and `tools.test.ts` checks the descriptions of tools. */
const NOT_IN_FORM = ['pollTimes', 'description', 'toolDescription'];
/** Longer lists, such as the countries, are only counted. */
const MAX_CHOICES = 20;

function formText(properties: INodeProperties[]): string {
	return properties
		.filter(({ name }) => !NOT_IN_FORM.includes(name))
		.flatMap((property) => linesOf(property))
		.join('\n');
}

function linesOf(property: INodeProperties): string[] {
	const { name, type, options = [], ...settings } = property;
	const shownSettings = JSON.stringify(settings, (key, value: unknown) =>
		TEXTS.has(key) ? undefined : value,
	);
	const choices = choicesOf(property).map(({ value }) => String(value));
	const shown = choices.length > MAX_CHOICES ? [`${choices.length} choices`] : choices;
	const below = [
		...(shown.length > 0 ? [`= ${shown.join(' | ')}`] : []),
		...options.flatMap((option) => {
			if ('values' in option) return [option.name, ...indented(option.values.flatMap(linesOf))];
			return 'type' in option ? linesOf(option) : [];
		}),
	];
	return [`${name} ${type} ${shownSettings}`, ...indented(below)];
}

const indented = (lines: string[]) => lines.map((line) => `  ${line}`);

test('checks every node', () => {
	expect(Object.keys(loader.known.nodes).sort()).toEqual(NODES);
});

test.each(NODES)('the form of %s', (name) => {
	const { description } = nodeTypes.getByNameAndVersion(`${PACKAGE}.${name}`);
	const settings = Object.entries(pick(description, NODE_SETTINGS)).map(
		([key, value]) => `${key}: ${JSON.stringify(value)}`,
	);
	expect([...settings, formText(description.properties)].join('\n')).toMatchSnapshot();
});

test("each operation has its own subtitle, as n8n's editor evaluates it", () => {
	const keys = keysOf(loader.types.nodes);
	const subtitles = keys.map(({ node, resource = '', operation = '' }) => {
		const type = `${PACKAGE}.${node}`;
		const parameters = { resource, operation };
		const workflow = makeWorkflow([makeNode({ name: 'Node', type, parameters })]);
		const { subtitle } = nodeTypes.getByNameAndVersion(type).description;
		const shown = workflow.nodes.Node;
		if (shown === undefined) throw new Error('The node is not in its workflow');
		return workflow.expression.getSimpleParameterValue(shown, subtitle, 'internal', {});
	});
	for (const subtitle of subtitles) expect(subtitle).toMatch(/^[a-z][^{}]+$/);
	const named = keys.map(({ node }, index) => `${node}: ${String(subtitles[index])}`);
	expect(uniq(named)).toEqual(named);
});

test('the form of the credential', () => {
	const { properties } = loader.getCredential(CREDENTIAL).type;
	expect(formText(properties)).toMatchSnapshot();
});
