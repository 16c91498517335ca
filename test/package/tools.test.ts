/** The tool that n8n creates from each action of a node with default settings, as a model sees it. */
import { createNodeAsTool } from 'n8n-core/dist/execution-engine/node-execution-context/utils/create-node-as-tool';
import pick from 'lodash/pick';
import {
	NodeHelpers,
	type INodeParameters,
	type INodeProperties,
	type ISupplyDataFunctions,
} from 'n8n-workflow';
import { z } from 'zod';
import { formatOf } from '../../nodes/core/service/modelFormats';
import { toolDescriptionFields } from '../../nodes/host/run/operations';
import {
	executeContext,
	loader,
	makeNode,
	makeWorkflow,
	nodeTypes,
	PACKAGE,
	setupAllNodes,
} from '../engine';
import { isRead, operationNamed } from '../operations/operations';
import { parametersIn } from './descriptions';
import { keysOf, nameOf, type SchemaKey } from '../schema/schemas';

type Tool = { action: string; name: string; description: string };

/** Limits of model providers. */
const MAX_DESCRIPTION_LENGTH = 1_024;
const MAX_NAME_LENGTH = 64;

let tools: Tool[] = [];

beforeAll(() => {
	setupAllNodes();
	const actions = loader.types.nodes.filter(({ usableAsTool }) => usableAsTool !== undefined);
	tools = keysOf(actions).map((key) => toolOf(key));
});

/** A tool that does what the table says, or only checks. */
function toolOf(
	key: SchemaKey,
	whatToDo: INodeParameters = pick(operationNamed(nameOf(key)).parameters, 'whatToDo'),
): Tool {
	const type = `${PACKAGE}.${key.node}Tool`;
	const nodeType = nodeTypes.getByNameAndVersion(type);
	const { description } = nodeType;
	const { version: typeVersion = 1, resource, operation } = key;
	const parameters = {
		...(resource !== undefined && { resource }),
		...(operation !== undefined && { operation }),
		...whatToDo,
	};
	const name = NodeHelpers.makeNodeName(parameters, description);
	const workflow = makeWorkflow([makeNode({ type, name, typeVersion, parameters })]);
	const node = workflow.getNode(name);
	if (node === null) throw new Error(`${type} is not in its workflow`);
	const { response } = createNodeAsTool({
		...{ node, nodeType, itemIndex: 0 },
		// Has everything that a description needs.
		context: z.custom<ISupplyDataFunctions>().parse(executeContext(node, [], { workflow })),
		handleToolInvocation: async () => await Promise.resolve(),
	});
	return { action: nameOf(key), name: response.name, description: response.description };
}

test.each(['description', 'name'] as const)('no two tools have the same %s', (what) => {
	expect(tools.length).toBeGreaterThan(20);
	expect(new Set(tools.map(({ [what]: text }) => text)).size).toBe(tools.length);
});

test.each(['description', 'name'] as const)(
	'the %s has a length that every model accepts',
	(what) => {
		const [shortest, longest] =
			what === 'name' ? [5, MAX_NAME_LENGTH] : [60, MAX_DESCRIPTION_LENGTH];
		const unfit = tools.filter(({ [what]: { length } }) => length < shortest || length > longest);
		expect(unfit).toEqual([]);
	},
);

test('descriptions warn of phone calls and say when to use the tool, or say that the tool calls nobody', () => {
	const warned = tools.filter(
		({ description }) =>
			/real phone call/.test(description) && /Use this only|use this only/.test(description),
	);
	const calling = tools.filter(({ action }) => operationNamed(action).callsPeople === true);
	expect(warned).toEqual(calling);
	const reads = tools.filter(({ action }) => isRead(action));
	expect(reads.length).toBeGreaterThan(8);
	expect(
		reads.filter(
			({ description }) =>
				!/(Calls nobody|Places no calls?) and changes nothing\./.test(description),
		),
	).toEqual([]);
});

test('a tool that only checks says that it calls nobody, also if it could place calls', () => {
	const place = { node: 'placeCall', resource: 'call', operation: 'place' };
	const { description } = toolOf(place, { whatToDo: 'check' });
	expect(description).toMatch(/Calls nobody and changes nothing\./);
	expect(description).not.toMatch(/Places|real/);
	expect(toolOf(place, {}).description).toBe(description);
	expect(toolOf(place, { whatToDo: 'place' }).description).toMatch(/costs money/);
});

const field = (displayName: string, over: Partial<INodeProperties> = {}): INodeProperties => ({
	...{ displayName, name: displayName, type: 'string', default: '' },
	...over,
});
const PHONE = field('Phone');
test.each<[string, INodeProperties[], boolean]>([
	['a field', [PHONE], true],
	['a field that is there twice', [PHONE, PHONE], true],
	['an option', [field('Options', { type: 'collection', options: [PHONE] })], true],
	['no field with a format', [field('Person Name')], false],
	[
		'a field that no tool shows',
		[{ ...PHONE, displayOptions: { hide: { '@tool': [true] } } }],
		false,
	],
	['a drop-down list', [{ ...PHONE, type: 'options' }], false],
	['a field without expressions', [{ ...PHONE, noDataExpression: true }], false],
])('the description has each format that a model needs once: %s', (_what, fields, hasFormat) => {
	const fromModel = "={{ $fromAI('Phone', ``, 'string') }}";
	const left = { Phone: fromModel, Options: { Phone: fromModel } };
	const described = hasFormat ? `It calls. ${formatOf('Phone')}` : 'It calls.';
	expect(describedWith(fields, left)).toBe(described);
	expect(describedWith(fields, { Phone: '={{ $json.phone }}', Options: {} })).toBe('It calls.');
	expect(describedWith(fields, {})).toBe('It calls.');
});

/** The description of a tool with this form, as n8n evaluates it. */
function describedWith(fields: INodeProperties[], parameters: INodeParameters): unknown {
	const [shown, read] = toolDescriptionFields({ fields, toolDescription: 'It calls.' });
	expect(read).toMatchObject({ name: 'toolDescription', type: 'hidden' });
	const described = { description: shown?.default, toolDescription: read?.default };
	const workflow = makeWorkflow([makeNode({ type: 'test.sink', name: 'Tool' })]);
	const node = workflow.getNode('Tool');
	if (node === null) throw new Error('The tool is not in its workflow');
	node.parameters = { ...parameters, ...described };
	return executeContext(node, [], { workflow }).getNodeParameter('toolDescription', 0);
}

const inTools = ({ displayOptions }: INodeProperties) =>
	displayOptions?.hide?.['@tool']?.includes(true) !== true;

/** The fields of all tools, including members of collections. */
const fieldsInTools = () =>
	loader.types.nodes
		.filter(({ usableAsTool }) => usableAsTool !== undefined)
		.flatMap(({ properties, displayName }) => parametersIn(properties.filter(inTools), displayName))
		.filter(({ property }) => inTools(property));

test('JSON fields are text fields in every tool, also in options', () => {
	const fields = fieldsInTools();
	expect(fields.length).toBeGreaterThan(100);
	expect(
		fields.filter(({ property }) => property.type === 'json').map(({ place }) => place),
	).toEqual([]);
});

test('fields that depend on a value from the model are hidden', () => {
	const type = `${PACKAGE}.placeCallTool`;
	const { description } = nodeTypes.getByNameAndVersion(type);
	const shownWith = (when: string) => {
		const parameters = { resource: 'call', operation: 'place', when };
		const node = makeNode({ type, name: 'Call', parameters });
		return description.properties
			.filter((property) =>
				NodeHelpers.displayParameter(node.parameters, property, node, description),
			)
			.map(({ name }) => name);
	};
	expect(shownWith('timeOfDay')).toContain('scheduledTime');
	expect(shownWith('dateTime')).toContain('scheduledAt');
	const byModel = shownWith("={{ $fromAI('when') }}");
	expect(byModel).toContain('when');
	expect(byModel.filter((name) => name.startsWith('scheduled'))).toEqual([]);
});

test('a node that is not a tool has no tool description', () => {
	const type = `${PACKAGE}.placeCall`;
	const node = makeWorkflow([makeNode({ type, name: 'Call' })]).getNode('Call');
	expect(node?.parameters).toHaveProperty('personName');
	expect(node?.parameters).not.toHaveProperty('toolDescription');
});
