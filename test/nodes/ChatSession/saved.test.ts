/** Version 1 of the node had one list of operations and no resource: what was saved with it opens and runs as it did. */
import { NodeHelpers, type INode, type INodeProperties } from 'n8n-workflow';
import { loader, nodeTypes, PACKAGE, setupEngine } from '../../engine';
import { choicesOf } from '../../package/descriptions';

const FIRST_LIST = [
	['close', 'Close'],
	['create', 'Create'],
	['legacyClose', 'Legacy Close (Deprecated)'],
	['legacyCreate', 'Legacy Create (Deprecated)'],
	['legacyPause', 'Legacy Pause (Deprecated)'],
	['supportCommand', 'Support Command'],
	['unwatch', 'Unwatch'],
	['waitForEvent', 'Wait for Event'],
	['watch', 'Watch'],
] as const;

beforeAll(setupEngine);

const description = () => nodeTypes.getByNameAndVersion(`${PACKAGE}.chatSession`).description;

/** The node as n8n opens it: what was saved, with the defaults of its version. */
function opened(typeVersion: number, saved: INode['parameters']) {
	const { properties } = description();
	const versioned = { typeVersion };
	const parameters =
		NodeHelpers.getNodeParameters(properties, saved, true, false, versioned, description()) ?? {};
	const node: INode = {
		...{ id: 'id', name: 'Session', type: `${PACKAGE}.chatSession` },
		...{ typeVersion, position: [0, 0], parameters },
	};
	const shown = (property: INodeProperties) =>
		NodeHelpers.displayParameter(parameters, property, node, description());
	return { node, shown: properties.filter(shown) };
}

test.each(FIRST_LIST)(
	'saved with %s: shown as %s, in the list it was chosen from',
	(value, name) => {
		const { shown, node } = opened(1, { operation: value, sessionId: 's-1' });
		const lists = shown.filter((property) => property.name === 'operation');
		expect(
			lists.map((list) => choicesOf(list).map((choice) => [choice.value, choice.name])),
		).toEqual([FIRST_LIST]);
		expect(node.parameters.operation).toBe(value);
		const choices = lists.flatMap((list) => choicesOf(list));
		expect(choices.find((choice) => choice.value === value)?.name).toBe(name);
		expect(shown.map((property) => property.name)).not.toContain('resource');
	},
);

test('saved without a word, as n8n saves a node that has its defaults: it creates a session', () => {
	expect(opened(1, {}).node.parameters.operation).toBe('create');
});

test.each([
	['legacy', 'legacyCreate', ['legacyClose', 'legacyCreate', 'legacyPause']],
	['session', 'create', ['close', 'create', 'supportCommand', 'waitForEvent']],
	['watchList', 'watch', ['unwatch', 'watch']],
])('a new node: %s begins with %s and offers what belongs to it', (resource, initial, values) => {
	const { shown, node } = opened(2, { resource });
	const lists = shown.filter((property) => property.name === 'operation');
	expect(lists.map((list) => choicesOf(list).map((choice) => choice.value))).toEqual([values]);
	expect(node.parameters.operation).toBe(initial);
});

test('a new node is of the version with resources', () => {
	const known = loader.types.nodes.find(({ name }) => name === 'chatSession');
	expect(known?.version).toEqual([1, 2]);
	expect(known?.defaultVersion).toBeUndefined();
	expect(opened(2, {}).node.parameters).toMatchObject({ resource: 'session', operation: 'create' });
});
