/** Which rows expressions read. For tools: the number that Place Call calls for the row that asks. */
import type { IDataObject, INode, INodeCredentialsDetails, INodeParameters } from 'n8n-workflow';
import { mayNameRow } from '../../../../nodes/host/caller/rows';
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
const OWNER = 'the person who set up this tool must fix this';

type Request = AgentRun & {
	route?: typeof engineTool;
	args?: IDataObject;
	parameters?: INodeParameters;
};

/** By default, Bela's row asks, which is the second one. Returns the number that was called, or what to do instead. */
async function callFor(phoneNumber: string, request: Request = {}): Promise<unknown> {
	const { route = engineTool, args = {}, parameters = {}, ...run } = request;
	const bodies = acceptUpTo(1);
	const tool = harness.node('placeCall', {
		parameters: { ...CALL, phoneNumber, ...parameters },
		credentials: { [CREDENTIAL]: credential },
	});
	const result = await route(tool, { rows: ROWS, row: BELA, ...run })(args);
	expect(result.outcome).toBe(bodies.length === 1 ? 'done' : 'not_sent');
	// The model knows the row.
	expect(result).not.toHaveProperty('result.name');
	return bodies[0]?.phone_number ?? result.next_step;
}

const ONLY_BELA = { rows: [BELA] };

describe('run by the engine', () => {
	test.each<[expression: string, request?: Request]>([
		['={{ $json.phone }}'],
		['={{ $json["phone"] }}'],
		['={{ $json?.phone.trim() }}'],
		[
			'=+91 {{ $json.phone }}',
			{
				parameters: { options: { initialGreeting: '=Is this {{ $json.name }}? US$ 5 of $json.' } },
			},
		],
		['={{ $json.phone.trim() }}', { args: { who: 'Bela', note: 'phone', trim: 'x' } }],
		['={{ $json.phone.trim() }}', { args: { query: { phone: FROM_MODEL } } }],
		['={{ $json.phone + "US$ 5".slice(5) }}'],
		["={{ $('Row').last().json.phone }}"],
		["={{ $('Row').all()[1].json.phone }}"],
		["={{ $if(true, $json.phone, '') }}"],
		['={{ Object.values($json)[1] }}'],
		['={{ $fromAI("phone") }}', { args: { phone: BELA.phone } }],
		['={{ $fromAI("phone") }}', { rows: [ASHA], args: { phone: BELA.phone } }],
		// The rows that n8n shows are of no importance.
		['={{ $json.phone }}', { rows: [ASHA] }],
	])('sends the value of %s', async (expression, request = {}) => {
		expect(await callFor(expression, request)).toBe(BELA.phone);
	});

	test.each([
		"={{ $('Row').item.json.phone }}",
		"={{ $( 'Row' ).item.json.phone }}",
		"={{ $ ('Row').item.json.phone }}",
		"={{ $('Row')['item'].json.phone }}",
		"={{ $('Row').itemMatching(0).json.phone }}",
		"={{ $('Row').pairedItem().json.phone }}",
		"={{ $('Row').all()[$itemIndex].json.phone }}",
		'={{ $itemIndex === 0 ? $json.phone : "" }}',
		'={{ $items("Row")[0].json.phone }}',
		'={{ $input.item.json.phone }}',
		'={{ $node["Row"].json.phone }}',
		'={{ $data.phone }}',
	])('sends nothing for %s, also with one row, and says what to use', async (expression) => {
		expect(await callFor(expression, ONLY_BELA)).toContain(OWNER);
		expect(await callFor(expression)).toContain('In n8n, use {{ $json.column }}');
	});

	test.each<[expression: string, args: IDataObject]>([
		['={{ $json.phone }}', { phone: FROM_MODEL }],
		['={{ $json.phone.trim() }}', { phone: BELA.phone }],
		['={{ $json?.phone.trim() }}', { phone: FROM_MODEL }],
		['={{ $json . phone }}', { phone: FROM_MODEL }],
		['={{ $json.mobile || $json.phone }}', { mobile: FROM_MODEL }],
		['={{ $json["her mobile"] || $json.phone }}', { 'her mobile': FROM_MODEL }],
		["={{ $json?.['her mobile'] || $json.phone }}", { 'her mobile': FROM_MODEL }],
		['={{ $json.मोबाइल || $json.phone }}', { मोबाइल: FROM_MODEL }],
	])('sends nothing for %s if the model replaces the column: %j', async (expression, args) => {
		const [name] = Object.keys(args);
		expect(await callFor(expression, { args })).toContain(`Give no argument '${name}'`);
	});

	test.each([
		'={{ Object.values($json)[1] }}',
		'={{ $json[$vars.column || "phone"] }}',
		'={{ (({ phone }) => phone)($json) }}',
	])('sends nothing for %s if the model gives any argument', async (expression) => {
		expect(await callFor(expression, { args: { phone: FROM_MODEL } })).toContain(OWNER);
	});

	test("if n8n doesn't show the model's arguments, no column is certain", async () => {
		const data = newExecutionData();
		Object.defineProperty(data.resultData.runData, 'Node', { get: () => [] });
		expect(await callFor('={{ $json.phone }}', { data })).not.toBe(BELA.phone);
	});

	test.each<[rows: IDataObject[], next: unknown]>([
		[ROWS, expect.stringContaining(OWNER)],
		[[BELA], BELA.phone],
	])('after a human review, of %j the agent calls %s', async (rows, next) => {
		expect(await callFor('={{ $json.phone }}', { rows, args: { tool: 'Call' } })).toEqual(next);
	});
});

describe('run by the agent', () => {
	const route = inlineTool;

	test.each<[expression: string, request?: Request]>([
		['={{ $json.phone }}', ONLY_BELA],
		['={{ $json.phone }}', { ...ONLY_BELA, args: { phone: FROM_MODEL } }],
		['={{ $fromAI("whom") }}', { args: { whom: BELA.phone } }],
	])('sends the value of %s', async (expression, request = {}) => {
		expect(await callFor(expression, { ...request, route })).toBe(BELA.phone);
	});

	test.each<[expression: string, request?: Request]>([
		['={{ $json.phone }}'],
		['={{ $json.phone.trim() }}', { rows: [BELA, BELA] }],
		['={{ $itemIndex === 0 ? "9876543211" : "" }}', ONLY_BELA],
		["={{ $('Row').item.json.phone }}", ONLY_BELA],
		['={{ $json.phone || $fromAI("whom") }}', { args: { whom: BELA.phone } }],
	])('sends nothing for %s', async (expression, request = {}) => {
		expect(await callFor(expression, { ...request, route })).toContain(OWNER);
	});
});

test.each<[expression: string, sent: unknown]>([
	['={{ $fromAI("phone") }}', FROM_MODEL],
	// n8n's item is the HTTP request.
	['={{ $json.phone }}', expect.stringContaining(OWNER)],
])('for an MCP client, %s sends %s', async (expression, sent) => {
	const route = (tool: INode) => mcpTool(tool, 'rows');
	expect(await callFor(expression, { route, args: { phone: FROM_MODEL } })).toEqual(sent);
});

test.each([
	...['', '42', '={{ 40 + 2 }}', '={{ $vars.campaign }}'],
	'={{ $("Settings").last().json["campaign id"].toString() }}',
	'={{ $input.first().json.ids[0] }}',
	'={{ $("A").first()?.json?.campaign }}',
	'=4{{ 2 }}{{ $vars.end }}',
	'={{ { at: $now.toISO(), by: $workflow.name } }}',
	'={{ `${$today.toFormat("yyyy-MM-dd")}-${$execution.id}` }}',
	'={{ $vars.a + $env.B + $runIndex + Math.random() }}',
	'={{ { "price": "$5" } }}',
	"={{ $('Rows').all().length }}",
	'={{ $("Settings").first($runIndex).json.id }}',
	...['={{ $fromAI("id") }}', '={{ $if($vars.a, 1, 2) }}'],
])('%s does not refer to an item', (text) => {
	expect(mayNameRow(text)).toBe(false);
});

test.each([
	...['={{ $json.campaign }}', '={{ $itemIndex }}', '={{ $input.item.json.id }}'],
	...['={{ $("Settings").item.json.id }}', '={{ $("Settings").pairedItem().json.id }}'],
	'={{ $("Settings").all()[$itemIndex].json.id }}',
	'={{ $("a\\").first() + $json.x + (\\"").first() }}',
	'={{ $("Settings").first().json[$json.name] }}',
	'={{ $("Settings").first($itemIndex).json.id }}',
	...['={{ $vars.campaign || $json.campaign }}', '={{ $nowhere }}'],
	...['={{ this.$json.id }}', '={{ ({ a: $json }).a }}', '={{ "a\\" + $json.x + \\"" }}'],
	...['={{ $vars.a }} {{ $json.b }}', '={{ `${$json.a}` }}'],
	// n8n reads a closing bracket after a backslash as a part of the code.
	'={{ "\\}}" + $json.campaign }}',
	...['={{ $ ("Start").item.json.id }}', '={{ $thisItem.json.id }}'],
	...['={{ this["$" + "json"] }}', '={{ `a${this["$" + "json"].id}` }}', '={{ \\u0024json.id }}'],
])('%s may refer to an item', (text) => {
	expect(mayNameRow(text)).toBe(true);
});
