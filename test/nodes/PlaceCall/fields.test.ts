/** What the fields add to the request, and with which values no call is placed. */
import merge from 'lodash/merge';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { CREDENTIAL } from '../../../nodes/host/http/credential';
import { boundOf } from '../../openapi/openapi';
import { BODY, placeCallHarness } from './placeCallHarness';

const { sent, refusal, addCredential } = placeCallHarness();

const options = (options: INodeParameters) => ({ options });
const settings = (callSettings: INodeParameters) => options({ callSettings });
const retry = (config: IDataObject) => ({ call_config_overrides: { retry_config: config } });
const named = (...fields: INodeParameters[]) => options({ additionalDataFields: { fields } });
const points = (...all: INodeParameters[]) => options({ dataExtraction: { points: all } });
const limit = (over: INodeParameters) => ({ callLimit: 'day', ...over });
const webhook = (webhookUrl: string) => options({ webhookUrl });
const greeting = (initialGreeting: string) => options({ initialGreeting });
const agent = (value: string) => ({ agentUuid: { __rl: true, mode: 'id', value } });

const BLANK = {
	personName: '',
	when: 'now',
	options: { initialGreeting: null, systemPrompt: '  ', webhookUrl: '' },
};
const POINT = { key: 'day', description: 'Which day?', required: true };
const OPT_OUT_WORDS =
	'Whether the person wants no more calls. Capture yes only if they clearly say so, no only if they clearly accept more calls, and otherwise: not said.';
const OPT_OUT = {
	key: 'opt_out',
	description: 'Any more calls?',
	output_format: 'yes, no, or not said',
};
const optOut = (askAboutOptOut: string) => options({ askAboutOptOut });
const NEXT_POINT = { key: '', description: 'Else?', outputFormat: '' };

it.each<[INodeParameters, IDataObject]>([
	[{}, {}],
	[BLANK, {}],
	[agent(' agent_A-b_9 '), { agent_uuid: 'agent_A-b_9' }],
	[{ countryCode: 'India' }, {}],
	[{ phoneNumber: 9876543210 }, {}],
	[{ personName: 42 }, { person_name: '42' }],
	[{ personName: '#NAME?' }, {}],
	[{ personName: 'Asha undefined' }, { person_name: 'Asha' }],
	[greeting('#REF!'), {}],
	[greeting('Hello NULL'), { initial_greeting: 'Hello NULL' }],
	[greeting('Hello , it is me.'), { initial_greeting: 'Hello , it is me.' }],
	[options({ systemPrompt: 'Be brief.' }), { system_prompt: 'Be brief.' }],
	[webhook(' HTTPS://A.com:8443/a?b=c#d '), { webhook_url: 'HTTPS://A.com:8443/a?b=c#d' }],
	[webhook('http://example.com'), { webhook_url: 'http://example.com' }],
	[settings({ enableCallback: 'FALSE' }), { call_config_overrides: { enable_callback: false } }],
	[settings({ enableCallback: true }), { call_config_overrides: { enable_callback: true } }],
	[settings({ retryEnabled: false }), retry({ enabled: false })],
	[settings({ retryMaxAttempts: 3 }), retry({ max_attempts: 3 })],
	[
		settings({ retryEnabled: true, retryMaxAttempts: 2, retryIntervalMinutes: '60' }),
		retry({ enabled: true, max_attempts: 2, interval_minutes: 60 }),
	],
	[
		named(
			{ name: ' plan ', value: 'Gold' },
			{ name: 'year', value: 2 },
			{ name: 'no', value: '#N/A' },
		),
		{ additional_data: { plan: 'Gold', year: 2, no: '' } },
	],
	[
		points({ ...POINT, outputFormat: 'weekday' }, NEXT_POINT),
		{
			data_extraction: [
				{ ...POINT, output_format: 'weekday' },
				{ description: 'Else?', required: false },
			],
		},
	],
	[optOut(' Any more calls? '), { data_extraction: [OPT_OUT] }],
	[merge(points(POINT), optOut('Any more calls?')), { data_extraction: [POINT, OPT_OUT] }],
	[optOut(' '), { data_extraction: [{ ...OPT_OUT, description: OPT_OUT_WORDS }] }],
])('%j adds %j to the request', async (parameters, fields) => {
	expect(await sent(parameters)).toEqual({ ...BODY, ...fields });
});

it('Ask About Opt-Out has the key of the credential, and needs one', async () => {
	const withKey = async (optOutKey: string) => ({
		over: { credentials: { [CREDENTIAL]: await addCredential({ optOutKey }) } },
	});
	const asked = optOut('Any more calls?');
	expect(await sent(asked, await withKey('dnc'))).toEqual({
		...BODY,
		data_extraction: [{ ...OPT_OUT, key: 'dnc' }],
	});
	expect(await refusal(asked, await withKey(' '))).toContain(
		"'Opt-Out Key' in the credential is empty",
	);
});

it.each<[INodeParameters, message: string]>([
	[
		agent('a1'),
		`'Agent' must be an agent ID (got "a1"). Enter an agent ID such as "agent_5f2c9a", not a name.`,
	],
	[agent('={{ null }}'), "'Agent' is empty. Enter an agent ID such as"],
	[{ countryCode: '={{ "" }}' }, "'Country' is empty. Enter the two-letter code"],
	[
		{ countryCode: 'Korea' },
		`'Country' must be a country (got "Korea"). Enter the two-letter code`,
	],
	[{ personName: { a: 1 } }, "'Person Name' must be text"],
	[options({ initialGreeting: { a: 1 } }), "'Initial Greeting' in 'Options' must be text"],
	// A spreadsheet subtracts if +91-9876543210 is typed as a formula.
	[{ phoneNumber: -9876543119 }, "'Phone Number' "],
	...['ftp://example.com', 'https:///x', 'https://exa mple.com'].map(
		(url): [INodeParameters, string] => [
			webhook(url),
			`'Webhook URL' must be a complete URL (got "${url}"). It must start with https://`,
		],
	),
	[
		settings({ maxCallDurationSeconds: '' }),
		"'Maximum Duration (Seconds)' in 'Call Settings' must be a number (got nothing). Enter a number.",
	],
	[
		settings({ enableCallback: 'yes' }),
		"'Allow Callback' in 'Call Settings' must be true or false",
	],
	[
		named({ name: 'plan', value: 'Gold' }, { name: ' ', value: 'x' }),
		"Field 2 of 'Additional Data' has no name. Enter the name of the value for the agent, or remove the field.",
	],
	[
		points(POINT, { key: 'budget', description: ' ' }),
		`Data Point 2 ("budget") of 'Data Extraction' has no description. Describe what the agent should ask or extract.`,
	],
	[
		points(POINT, { key: 'budget', description: '={{ "NULL" }}' }),
		`Data Point 2 ("budget") of 'Data Extraction' has no description. Describe what`,
	],
	[
		points({ description: 'x', required: 'maybe' }),
		`'Required' in Data Point 1 of 'Data Extraction' must be true or false (got "maybe")`,
	],
	[
		merge(points({ ...POINT, key: 'opt_out' }), optOut('Any more calls?')),
		`Several data points have the key "opt_out". Give each its own key in 'Data Extraction'. 'Question' and 'Ask About Opt-Out' add data points, too, whose texts you can change.`,
	],
	[points(POINT, POINT), 'Several data points have the key "day". Give each its own key'],
	...[0, 1.5, 11].map((maximumCalls): [INodeParameters, string] => [
		limit({ maximumCalls }),
		`'Maximum Calls' must be a whole number from 1 to 10 (got ${maximumCalls}). Enter a whole`,
	]),
	[limit({ callLimit: 'year' }), "'Limit Calls per Person'"],
	// Of several invalid fields, the first one.
	[
		{ phoneNumber: '+91', ...settings({ retryMaxAttempts: 11 }) },
		`'Phone Number' "+91" has 0 digits`,
	],
])('%j is rejected', async (parameters, message) => {
	expect(await refusal(parameters)).toContain(message);
});

const boundsOf = (path: string): [min: number, max: number] => [
	boundOf(`CallConfigOverrides.properties.${path}.minimum`),
	boundOf(`CallConfigOverrides.properties.${path}.maximum`),
];

// The contract case of Place Call sends the bounds.
it.each([
	['maxCallDurationSeconds', 'Maximum Duration (Seconds)', 'max_call_duration_seconds'],
	['retryMaxAttempts', 'Retry Attempts', 'retry_config.properties.max_attempts'],
	['retryIntervalMinutes', 'Retry Interval (Minutes)', 'retry_config.properties.interval_minutes'],
])('%s (%s) must be a whole number within the bounds of %s', async (name, field, path) => {
	const [min, max] = boundsOf(path);
	const bounds = `from ${min} to ${max.toLocaleString('en-US')}`;
	for (const value of [min - 1, max + 1, min + 0.5, -1]) {
		expect(await refusal(settings({ [name]: value }))).toBe(
			`'${field}' must be a whole number ${bounds} (got ${value}). Enter a whole number ${bounds}.`,
		);
	}
});

describe('a greeting', () => {
	it.each(['x', '👋'])('may have 2000 characters such as %s', async (character) => {
		const text = character.repeat(2000);
		expect(await sent(greeting(text))).toMatchObject({ initial_greeting: text });
		expect(await refusal(greeting(`${text}x`))).toBe(
			"'Initial Greeting' has 2001 characters, but the maximum is 2000. Shorten it by 1.",
		);
	});

	it.each(['NULL', '#DIV/0!', 'Invalid date'])(
		'in which an expression returned %j is rejected',
		async (name) => {
			const text = '=Hello {{ $json.name }}.';
			expect(await refusal(greeting(text), { items: [{ name }] })).toBe(
				`'Initial Greeting' has the word "${name}" instead of a value. Correct 'Initial Greeting', or the cells that its expression uses. The agent would say the word.`,
			);
		},
	);

	const PRIYA = '=Hello {{ $json.a }}, this is Priya.';

	it.each<[string, IDataObject, text: string]>([
		[PRIYA, { a: '' }, 'Hello , this is Priya.'],
		[PRIYA, { a: 'LI NA' }, 'Hello LI NA, this is Priya.'],
		[
			'=Hello {{ $json.a }}, na {{ $json.b }}',
			{ a: 'A', b: 'Infinity Homes' },
			'Hello A, na Infinity Homes',
		],
	])('%j is said as it is for %j', async (entered, row, text) => {
		expect(await sent(greeting(entered), { items: [row] })).toMatchObject({
			initial_greeting: text,
		});
	});
});

// All forms of placeholders: test/nodes/core/values/sheetCells.
describe('a placeholder', () => {
	const CHOOSE = 'In n8n, choose Expression above the field';
	const row = { json: '{{ city }}', odd: 'Hello %FIRSTNAME%' };
	/** The fields whose texts people hear, with their labels in messages. */
	const SPOKEN: Array<[label: string, fieldsWith: (text: string) => INodeParameters]> = [
		["'Person Name'", (personName) => ({ personName })],
		["'Initial Greeting'", greeting],
		["'Ask About Opt-Out'", optOut],
		[
			`Data Point 2 ("k") of 'Data Extraction'`,
			(description) => points(POINT, { key: 'k', description }),
		],
		["Field 1 of 'Additional Data'", (value) => named({ name: 'plan', value })],
		[
			"'Question'",
			(question) => ({ operation: 'askAndWait', question, yesValues: 'yes', noValues: 'no' }),
		],
	];

	it.each(SPOKEN)('in %s is rejected', async (label, fieldsWith) => {
		expect(await refusal(fieldsWith('Asha *|FNAME|*'))).toBe(
			`${label} has the placeholder "*|FNAME|*", which nobody replaced. ${CHOOSE}, and drag the column with the value here. The placeholder is of another tool.`,
		);
		const code = "{{ $('Leads').item.json.name ? `${$json.a}` : {} }}";
		expect(await refusal(fieldsWith(`{{ x }} ${code}`))).toBe(
			`${label} has "${code}", but the field is set to Fixed. ${CHOOSE}.`,
		);
	});

	it.each(SPOKEN.slice(1))('of a longer cell is rejected in %s', async (label, fieldsWith) => {
		const json = { items: [row] };
		expect(await refusal(fieldsWith('={{ $json.odd }}'), json)).toBe(
			`${label} has the placeholder "%FIRSTNAME%", which nobody replaced. Write the value instead, such as in the cell that it comes from, or leave it out.`,
		);
		// The same text, but the cell isn't to blame.
		expect(await refusal(fieldsWith('=Hi %FIRSTNAME%{{ "" }}'), json)).toContain(CHOOSE);
	});

	it.each<[string, INodeParameters, IDataObject]>([
		['no name', { personName: '={{ $json.json }}' }, {}],
		['no part of a name', { personName: '=Asha {{ $json.json }}' }, { person_name: 'Asha' }],
		['no greeting', greeting('={{ $json.json }}'), {}],
		[
			'no value',
			named({ name: 'city', value: '={{ $json.json }}' }),
			{ additional_data: { city: '' } },
		],
		[
			'no other text about opt-outs',
			optOut('={{ $json.json }}'),
			{ data_extraction: [{ ...OPT_OUT, description: OPT_OUT_WORDS }] },
		],
	])('that is a whole cell is %s', async (_what, parameters, fields) => {
		expect(await sent(parameters, { items: [row] })).toEqual({ ...BODY, ...fields });
	});

	it.each([
		...[
			'50% off, 20% more',
			'100%',
			'5%off%',
			'from [1] to [[1, 2]]',
			'$5',
			'$ {a}',
			'{a}',
			'* | *',
		],
		...['https://example.com/?q=%E0%A4%B6%A4foo%20', '{"a":{"b":1}}', '[["a"]]', 'ok }} {{'],
	])('is none in %j', async (text) => {
		const fields = merge(greeting(text), named({ name: 'a', value: text }));
		expect(await sent(fields)).toMatchObject({
			initial_greeting: text,
			additional_data: { a: text },
		});
	});

	it('may be a variable of the service in a system prompt and in free JSON', async () => {
		const text = 'Call {{person_name}} by the first name.';
		const note = JSON.stringify({ note: text });
		expect(await sent(options({ systemPrompt: text, additionalBodyFields: note }))).toMatchObject({
			system_prompt: text,
			note: text,
		});
	});
});

describe('a question', () => {
	const ask = (over: INodeParameters) => ({
		...{ operation: 'askAndWait', question: 'May we ship?', yesValues: 'yes, Go ahead' },
		...{ noValues: 'no', ...over },
	});
	const DIFFERENT = "'Counts as Yes' and 'Counts as No' must have different values";

	it.each<[INodeParameters, message: string]>([
		[{ question: ' ' }, "'Question' is empty, so no call was placed"],
		[
			{ yesValues: '={{ "" }}' },
			`${DIFFERENT} (got "" and "no"), so no call was placed. Enter the values that the agent captures`,
		],
		[{ noValues: '={{ null }}' }, `${DIFFERENT} (got "yes, Go ahead" and "")`],
		[{ noValues: 'no, YES ' }, `${DIFFERENT} (got "yes, Go ahead" and "no, YES")`],
		[
			{ question: '=May we ship order {{ "#REF!" }}?' },
			`'Question' has the word "#REF!" instead of a value. Correct 'Question', or the cells that its expression uses.`,
		],
		...['"NULL"', '"[[" + "question]]"'].map((code): [INodeParameters, string] => [
			{ question: `={{ ${code} }}` },
			"'Question' is empty, so no call was placed. Enter what the agent should ask.",
		]),
		[
			points({ key: 'answer_to_question', description: 'x' }),
			'Several data points have the key "answer_to_question"',
		],
	])('with %j is not asked', async (over, message) => {
		expect(await refusal(ask(over))).toContain(message);
	});
});
