/** Which values a tool sends for the row that asks, by the number that Place Call calls. */
import { ExecuteContext } from 'n8n-core';
import type { IDataObject, INode, INodeCredentialsDetails, INodeParameters } from 'n8n-workflow';
import { CREDENTIAL } from '../../../../nodes/host/http/credential';
import {
	engineHarness,
	engineTool,
	inlineTool,
	mcpTool,
	newExecutionData,
	type AgentRun,
} from '../../../engine';
import { acceptUpTo, CALL } from '../../PlaceCall/placeCallHarness';

const harness = engineHarness();
let credential: INodeCredentialsDetails;
beforeAll(async () => {
	credential = await harness.addCredential({});
});
afterEach(() => jest.restoreAllMocks());

const ASHA = { name: 'Asha', phone: '9876543210' };
const BELA = { name: 'Bela', phone: '9876543211' };
const ROWS = [ASHA, BELA];
const FROM_MODEL = '9123456780';

type Request = AgentRun & {
	route?: typeof engineTool;
	args?: IDataObject;
	parameters?: INodeParameters;
	executeOnce?: boolean;
};

/** By default, Bela's row asks, which is the second one. Returns the numbers that were called. */
async function callFor(phoneNumber: string, request: Request = {}): Promise<unknown[]> {
	const { route = engineTool, args = {}, parameters = {}, executeOnce = false, ...run } = request;
	const bodies = acceptUpTo(1);
	const tool = harness.node('placeCall', {
		parameters: { ...CALL, phoneNumber, ...parameters },
		credentials: { [CREDENTIAL]: credential },
		executeOnce,
	});
	const result = await route(tool, { rows: ROWS, row: BELA, ...run })(args);
	expect(result.outcome).toBe(bodies.length === 1 ? 'done' : 'not_sent');
	// The model knows the row.
	expect(result).not.toHaveProperty('result.name');
	return bodies.map(({ phone_number: phone }) => phone);
}

const ONLY_BELA = { rows: [BELA] };
const FIRST = { row: ASHA };
const HER = {
	...{ rows: [ASHA, { 'her phone': BELA.phone }], row: { 'her phone': BELA.phone } },
	args: { 'her phone': FROM_MODEL },
};

describe('run by the engine', () => {
	test.each<[expression: string, request?: Request]>([
		['={{ $json.phone }}'],
		['={{ $json["phone"] }}'],
		['={{ $json.phone.trim() }}'],
		[
			'=+91 {{ $json.phone }}',
			{ parameters: { initialGreeting: '=Is this {{ $json.name }}? US$ 5.' } },
		],
		['={{ $input.item.json.phone }}'],
		['={{ $json.phone }}', { args: { phone: FROM_MODEL } }],
		['={{ $json.phone.trim() }}', { args: { who: 'Bela', note: 'phone', name: 'Ravi' } }],
		['={{ $json.phone.trim() }}', { args: { query: { phone: FROM_MODEL } } }],
		['={{ $json.phone }}', { args: { name: null } }],
		// An argument that the model invented.
		['={{ $json["her phone"] }}', HER],
		["={{ $('Row').last().json.phone }}"],
		["={{ $('Row').all()[1].json.phone }}"],
		["={{ $if(true, $json.phone, '') }}"],
		['={{ $fromAI("phone") }}', { args: { phone: BELA.phone } }],
		["={{ $('Row').item.json.phone }}", ONLY_BELA],
		['={{ $("Row").item.json.phone }}', { rows: [BELA, BELA] }],
		['={{ $itemIndex === 0 ? $json.phone : "" }}', ONLY_BELA],
	])('sends the value of %s', async (expression, request = {}) => {
		expect(await callFor(expression, request)).toEqual([BELA.phone]);
	});

	test.each<[expression: string, request?: Request]>([
		["={{ $('Row').item.json.phone }}"],
		["={{ $( 'Row' ).item.json.phone }}"],
		["={{ $('Row')['item'].json.phone }}"],
		["={{ $('Row').itemMatching(0).json.phone }}"],
		["={{ $('Row').pairedItem().json.phone }}"],
		["={{ $('Row').all()[$itemIndex].json.phone }}"],
		['={{ $items("Row")[0].json.phone }}'],
		['={{ this.$json.phone }}'],
		['={{ $json.phone.trim() }}', { args: { phone: FROM_MODEL } }],
		['={{ $json?.phone.trim() }}', { args: { phone: FROM_MODEL } }],
		['={{ Object.values($json)[1] }}', { args: { phone: FROM_MODEL } }],
		['={{ $input.item.json.phone }}', { args: { phone: FROM_MODEL } }],
		['={{ $json.mobile || $json.phone }}', { args: { mobile: FROM_MODEL } }],
		['={{ $json["mobile"] || $json.phone }}', { args: { mobile: FROM_MODEL } }],
		['={{ $json["her phone"].trim() }}', HER],
		['={{ $json.mobile.trim() }}', { ...ONLY_BELA, args: { mobile: FROM_MODEL } }],
		['={{ $json.phone.trim() }}', { ...ONLY_BELA, args: { phone: FROM_MODEL } }],
		// In a later run of the agent, n8n takes the item of its first one.
		["={{ $('Row').item.json.phone }}", { run: 1, rows: [BELA, ASHA] }],
	])('sends nothing for %s, and shows how to use the row', async (expression, request = {}) => {
		const hints = jest.spyOn(ExecuteContext.prototype, 'addExecutionHints');
		expect(await callFor(expression, request)).toEqual([]);
		const message = expect.stringContaining(
			"For a column of the agent's input, use {{ $json.column }}",
		);
		expect(hints.mock.calls).toEqual([[{ message }]]);
	});

	test('an item that n8n resolves for the row is sent', async () => {
		const expression = "={{ $('Row').item.json.phone }}";
		expect(await callFor(expression, { resolved: 1 })).toEqual([BELA.phone]);
	});

	test.each([
		// Rows of another run of the node before the agent.
		['={{ $json.phone }}', { rows: [ASHA] }, []],
		["={{ $('Row').item.json.phone }}", { rows: [ASHA] }, []],
		["={{ $json.phone || 'none' }}", { rows: [ASHA] }, []],
		['={{ $json.phone }}', { rows: [{ ...ASHA, phone: BELA.phone }] }, [BELA.phone]],
		['={{ $fromAI("phone") }}', { rows: [ASHA], args: { phone: FROM_MODEL } }, [FROM_MODEL]],
	])('if no row fits, %s sends what is certain', async (expression, request, sent) => {
		expect(await callFor(expression, request)).toEqual(sent);
	});

	test.each([[[ASHA]], [[BELA]], [ROWS]])(
		"if n8n doesn't show the model's arguments, no value of %j is certain",
		async (rows) => {
			const data = newExecutionData();
			Object.defineProperty(data.resultData.runData, 'Node', { get: () => [] });
			expect(await callFor('={{ $json.phone }}', { rows, data })).toEqual([]);
		},
	);

	test("the first row's own item is sent for it", async () => {
		expect(await callFor("={{ $('Row').item.json.phone }}", FIRST)).toEqual([ASHA.phone]);
	});

	test.each([
		['={{ $json.phone }}', []],
		["={{ $('Row').item.json.phone }}", []],
		['={{ $fromAI("phone") }}', [ASHA.phone]],
	])(
		'if only an argument with the name of a column distinguishes the row, %s sends %j',
		async (expression, sent) => {
			const rows = [{ phone: ASHA.phone }, { phone: BELA.phone }];
			const request = { rows, row: { phone: BELA.phone }, args: { phone: ASHA.phone } };
			expect(await callFor(expression, request)).toEqual(sent);
		},
	);

	const OPEN = { status: 'open' };
	const AT = { 'Phone Number': ASHA.phone, city: 'Pune' };

	test.each([
		['no column', {}],
		['one column', { name: BELA.name }],
	])('a row with %s keeps no other row from being called', async (_what, row) => {
		const rows = [ASHA, BELA, row];
		expect(await callFor('={{ $json.phone }}', { rows })).toEqual([BELA.phone]);
		expect(await callFor('={{ $json.phone }}', { rows, row })).toEqual([]);
	});

	test.each<[what: string, request: Request]>([
		['a column of others', { row: OPEN, args: { phone: ASHA.phone } }],
		['all columns of another one', { row: {}, args: { ...OPEN, phone: ASHA.phone } }],
		['a column with a space', { row: { city: 'Pune' }, args: { 'Phone Number': ASHA.phone } }],
	])('a row whose model gives %s is not called by them', async (_what, request) => {
		const rows = [{ ...OPEN, phone: ASHA.phone }, OPEN, {}, AT, { city: 'Pune' }];
		const expression = '={{ $json.phone || $json["Phone Number"] }}';
		expect(await callFor(expression, { rows, ...request })).toEqual([]);
	});

	test('columns with lists, objects, and dates are those of a row', async () => {
		const row = { ...BELA, tags: ['a', { b: 1 }], since: new Date(0).toISOString(), none: null };
		const rows = [{ ...row, tags: ['a', { b: 2 }] }, structuredClone(row)];
		expect(await callFor('={{ $json.phone.trim() }}', { rows, row })).toEqual([BELA.phone]);
	});
});

describe('run by the agent', () => {
	const route = inlineTool;

	test.each<[expression: string, request?: Request]>([
		['={{ $json.phone }}', ONLY_BELA],
		['={{ $json.phone }}', { ...ONLY_BELA, args: { phone: FROM_MODEL } }],
		['={{ $json.phone }}', { rows: [BELA, { ...BELA, name: 'B.' }] }],
		['={{ $json.phone }}', { rows: [BELA, { ...BELA, name: 'B.' }], executeOnce: true }],
		['={{ $fromAI("whom") }}', { args: { whom: BELA.phone } }],
	])('sends the value of %s', async (expression, request = {}) => {
		expect(await callFor(expression, { ...request, route })).toEqual([BELA.phone]);
	});

	test.each<[expression: string, request?: Request]>([
		['={{ $json.phone }}'],
		['={{ $json.phone.trim() }}'],
		['={{ $itemIndex === 0 ? "9876543211" : "" }}'],
		['={{ $json.phone || $fromAI("whom") }}', { args: { whom: BELA.phone } }],
	])('sends nothing for %s', async (expression, request = {}) => {
		expect(await callFor(expression, { ...request, route })).toEqual([]);
	});
});

describe('run for an MCP client', () => {
	const route = (tool: INode) => mcpTool(tool, 'rows');

	test.each([
		['={{ $fromAI("phone") }}', [FROM_MODEL]],
		// n8n's item is the HTTP request.
		['={{ $json.phone }}', []],
	])('%s sends %j', async (expression, sent) => {
		expect(await callFor(expression, { route, args: { phone: FROM_MODEL } })).toEqual(sent);
	});
});
