/**
 * If a person selects "Let the model define this parameter", a model that knows only the tool's description must
 * enter the right value.
 */
import cloneDeep from 'lodash/cloneDeep';
import set from 'lodash/set';
import { createNodeAsTool } from 'n8n-core/dist/execution-engine/node-execution-context/utils/create-node-as-tool';
import { NodeHelpers, type INode, type INodeParameters, type INodeProperties } from 'n8n-workflow';
import { z } from 'zod';
import { zodToJsonSchema } from 'zod-to-json-schema';
import { agent, CALL as call, QUESTION } from '../contract/contractCase';
import { simulatedNodes } from '../contract/simulatedNodes';
import { engineTool, makeWorkflow, nodeTypes, PACKAGE, speedUp } from '../engine';
import {
	fillIn,
	keyOf,
	letModelDefine,
	type ListedTool,
	type Wanted,
} from '../engine/literalModel';
import { fixtures } from '../simulator';
import { printCounts } from './runs';

const { harness, simulator, nodeOf } = simulatedNodes();
const { agents, calls, campaigns, sessions } = fixtures;
const counts = { right: 0, wrong: 0 };
beforeEach(() => speedUp(50));
afterEach(() => jest.restoreAllMocks());
afterAll(() => printCounts('Values from a literal model', counts));

const ask = {
	...QUESTION,
	options: {
		wait: {
			settings: { waitForCompletion: 'reading', waitLimit: 1, waitLimitUnit: 'seconds' },
		},
	},
};
const push = {
	campaignId: String(campaigns.active),
	...agent(),
	contactsFrom: 'json',
	contacts: '[{ "phone": "9876543210" }]',
};
const message = {
	resource: 'message',
	operation: 'sendMessage',
	sendBy: 'socket',
	sessionId: sessions.open,
	message: 'Hello',
};
const session = { resource: 'session', sessionId: sessions.open };

const AGENT: Wanted = { text: 'the sales agent', alternatives: ['Asha', agents.full] };
const SESSION: Wanted = { text: 'the chat with Asha', alternatives: [sessions.open] };
const CALL: Wanted = {
	text: 'the last call with Asha',
	alternatives: ['9876543210', calls.finished],
};
const CAMPAIGN: Wanted = { text: 'the Diwali campaign', alternatives: [String(campaigns.active)] };
const PHONE: Wanted = {
	text: 'ninety-eight twelve, 345 678',
	alternatives: ['98123 45678', '9812345678', '+919812345678'],
};
const FIELDS: Wanted = { text: 'its status and its ID', alternatives: ['call_id, status'] };

type Case = [node: string, parameters: INodeParameters, field: string, wanted: Wanted];

/** Each field once, because the descriptions of all tools get its format in one place. The right value is the last alternative. */
const CASES: Case[] = [
	['placeCall', call, 'agentUuid', AGENT],
	['placeCall', call, 'countryCode', { text: 'India', alternatives: ['IND', '+91', 'IN'] }],
	[
		'placeCall',
		call,
		'phoneNumber',
		{ text: 'ninety-eight twelve, 345 678', alternatives: ['98765-43210', '9876543210'] },
	],
	[
		'placeCall',
		call,
		'when',
		{
			text: 'tomorrow at half past six',
			alternatives: ['2099-01-31 18:30', '2099-01-31T18:30:00', '2099-01-31T18:30:00+05:30'],
		},
	],
	[
		'placeCall',
		call,
		'when',
		{ text: 'today at half past six', alternatives: ['6:30 pm', '18:30'] },
	],
	['placeCall', call, 'when', { text: 'right away', alternatives: ['now'] }],
	[
		'placeCall',
		call,
		'developerSettings.additionalDataJson',
		{ text: 'the plan is gold', alternatives: ['plan: gold', '{"plan": "gold"}'] },
	],
	['placeCall', ask, 'yesValues', { text: 'if they agree', alternatives: ['yes, ok'] }],
	['placeCall', ask, 'noValues', { text: 'if they decline', alternatives: ['no, never'] }],
	[
		'pushCampaignContacts',
		push,
		'contacts',
		{
			text: 'Asha, 9876543210',
			alternatives: ['[{"phone": "9876543210", "person_name": "Asha"}]'],
		},
	],
	['pushCampaignContacts', push, 'campaignId', CAMPAIGN],
	['campaignStatus', {}, 'campaignId', CAMPAIGN],
	['getCall', { operation: 'get' }, 'callId', CALL],
	[
		'getCall',
		{ operation: 'get', callId: calls.finished, simplify: 'selected' },
		'selectedFields',
		FIELDS,
	],
	['dnd', { operation: 'check', phone: '+919812345678' }, 'agentUuid', AGENT],
	['dnd', { operation: 'add', ...agent() }, 'phone', PHONE],
	['chatSend', message, 'sessionId', SESSION],
	['injectContext', { context: 'Wants a visit' }, 'sessionId', SESSION],
	[
		'chatSession',
		{ ...session, operation: 'supportCommand' },
		'command',
		{ text: 'please close this chat', alternatives: ['close'] },
	],
	[
		'chatSession',
		{ ...session, operation: 'waitForEvent', timeLimit: 3 },
		'eventTypes',
		{ text: 'a new message', alternatives: ['message_received, session_closed'] },
	],
	[
		'chatSession',
		{ resource: 'legacy', operation: 'legacyCreate', ...agent() },
		'metadata',
		{ text: 'the plan is gold', alternatives: ['{"plan": "gold"}'] },
	],
	['pushCampaignContacts', push, 'enqueue', { text: 'yes, at once', alternatives: ['true'] }],
];

/** The tool that n8n creates from a node if a person lets the model define one field. */
async function toolFor(type: string, parameters: INodeParameters, field: string) {
	const nodeType = nodeTypes.getByNameAndVersion(`${PACKAGE}.${type}Tool`);
	const plain = await nodeOf(type, parameters);
	const shown = { ...plain, type: `${PACKAGE}.${type}Tool` };
	const property = shownField(shown, nodeType.description.properties, field);
	const expression = letModelDefine(property);
	const value =
		property.type === 'resourceLocator'
			? { __rl: true, mode: 'id', value: expression }
			: expression;
	const node = { ...plain, parameters: set(cloneDeep(parameters), field, value) };
	const filled = makeWorkflow([{ ...node, type: shown.type }]).getNode(node.name);
	if (filled === null) throw new Error(`${type} is not in its workflow`);
	const { response } = createNodeAsTool({
		node: filled,
		nodeType,
		handleToolInvocation: async () => await Promise.resolve(),
	});
	const schema = z.instanceof(z.ZodType).parse(response.schema);
	const { properties } = z
		.object({ properties: z.record(z.object({ type: z.string().optional() })) })
		.parse(zodToJsonSchema(schema));
	const tool: ListedTool = { description: response.description, properties };
	return { node, tool, schema, key: keyOf(property.displayName) };
}

/** The options of a collection that are available in a tool. */
const optionsOf = ({ options = [] }: Partial<INodeProperties> = {}) =>
	options.flatMap((option) =>
		'type' in option && option.displayOptions?.hide?.['@tool'] === undefined ? [option] : [],
	);

/** @param field the name of the field, or the path of an option */
function shownField(node: INode, properties: INodeProperties[], field: string): INodeProperties {
	const { description } = nodeTypes.getByNameAndVersion(node.type, node.typeVersion);
	const filled = makeWorkflow([node]).getNode(node.name) ?? node;
	const isShown = (property: INodeProperties) =>
		NodeHelpers.displayParameter(filled.parameters, property, filled, description);
	const [name, option] = field.split('.');
	const shown = properties.find((property) => property.name === name && isShown(property));
	const found = option === undefined ? shown : optionsOf(shown).find((one) => one.name === option);
	if (found === undefined) throw new Error(`The form does not show ${field}`);
	return found;
}

test.each(CASES)(
	'%s %j: a model enters the right value in %s',
	async (type, parameters, field, wanted) => {
		simulator().reset();
		const { node, tool, schema, key } = await toolFor(type, parameters, field);
		const value = fillIn(tool, key, wanted);
		const right = field === 'enqueue' ? true : (wanted.alternatives.at(-1) ?? wanted.text);
		const accepted = schema.safeParse({ [key]: value }).success;
		counts[value === right && accepted ? 'right' : 'wrong']++;
		expect({ value, accepted }).toEqual({ value: right, accepted: true });
		const result = await engineTool(harness.credentials, node)({ [key]: right });
		expect(result).toMatchObject({
			outcome: expect.stringMatching(/^(done|partly_done|timed_out)$/),
		});
	},
);
