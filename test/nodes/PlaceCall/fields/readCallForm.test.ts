import { boundOf } from '../../../openapi/openapi';
import { callWith, messageFor, messageOf, requestWith } from '../callForm';

const body = { agent_uuid: 'agent_a1', country_code: 'IN', phone_number: '9876543210' };

type Values = { [name: string]: unknown };

const settings = (callConfigOverrides: Values): Values => ({ callConfigOverrides });
const retry = (config: Values): Values => ({ call_config_overrides: { retry_config: config } });
const rows = (...fields: Values[]): Values => ({ additionalDataFields: { fields } });
const points = (...dataPoints: Values[]): Values => ({ dataExtraction: { points: dataPoints } });
const limit = (over: Values): Values => ({
	...{ callLimit: 'day', maximumCalls: 1, ...over },
});
const webhook = (webhookUrl: unknown): Values => ({ options: { webhookUrl } });

const BLANK = {
	personName: '',
	initialGreeting: null,
	when: 'now',
	callConfigOverrides: {},
	options: { systemPrompt: '  ', webhookUrl: '' },
};
const POINT = { key: 'day', description: 'Which day?', required: true };

test.each<[values: Values, fields: Values]>([
	[{}, {}],
	[BLANK, {}],
	[{ agentUuid: ' agent_A-b_9 ' }, { agent_uuid: 'agent_A-b_9' }],
	[{ countryCode: ' in ' }, {}],
	[{ countryCode: 'India' }, {}],
	[{ phoneNumber: '+91 98765 43210' }, {}],
	[
		{ countryCode: 'gb', phoneNumber: '+44 (0) 20 7946 0958' },
		{ country_code: 'GB', phone_number: '2079460958' },
	],
	[{ phoneNumber: 9876543210 }, {}],
	[{ personName: 42 }, { person_name: '42' }],
	[{ personName: '#NAME?' }, {}],
	[{ personName: 'NULL' }, {}],
	[{ personName: 'Asha undefined' }, { person_name: 'Asha' }],
	[{ initialGreeting: '#REF!' }, {}],
	[{ initialGreeting: 'Hello NULL' }, { initial_greeting: 'Hello NULL' }],
	[rows({ name: 'plan', value: '#N/A' }), { additional_data: { plan: '' } }],
	[{ when: 'timeOfDay', scheduledTime: '18:30' }, { scheduled_at: '18:30' }],
	[webhook('http://example.com'), { webhook_url: 'http://example.com' }],
	[
		webhook(' HTTPS://Example.com:8443/a?b=c#d '),
		{ webhook_url: 'HTTPS://Example.com:8443/a?b=c#d' },
	],
	[settings({ enableCallback: 'FALSE' }), { call_config_overrides: { enable_callback: false } }],
	[settings({ enableCallback: true }), { call_config_overrides: { enable_callback: true } }],
	[settings({ retryEnabled: false }), retry({ enabled: false })],
	[
		settings({ retryEnabled: true, retryMaxAttempts: 2, retryIntervalMinutes: '60' }),
		retry({ enabled: true, max_attempts: 2, interval_minutes: 60 }),
	],
	[
		rows({ name: ' plan ', value: 'Gold' }, { name: 'year', value: 2 }),
		{ additional_data: { plan: 'Gold', year: 2 } },
	],
	[
		points(
			{ ...POINT, outputFormat: 'weekday' },
			{ key: '', description: 'Else?', outputFormat: '' },
		),
		{ data_extraction: [{ ...POINT, output_format: 'weekday' }, { description: 'Else?' }] },
	],
])('%j adds %j to the request', (values, fields) => {
	expect(requestWith(values)).toEqual({ ...body, ...fields });
});

test.each<[values: Values, message: string]>([
	...['a1', 'agent_', 'Agent_a1', 'agent_a b', 'agent_ä', 42].map((agentUuid): [Values, string] => [
		{ agentUuid },
		`'Agent' must be an agent ID (got "${agentUuid}"). Choose the agent from the list, or enter its ID, which begins with "agent_"`,
	]),
	[{ agentUuid: null }, "'Agent' is empty. Choose the agent from the list, or enter its ID, "],
	[{ countryCode: '' }, "'Country' is empty"],
	[{ countryCode: 'Korea' }, `'Country' must be a country (got "Korea"). Use the two-letter code`],
	[{ countryCode: 91 }, `'Country' must be a country (got "91"). Use the two-letter code`],
	[{ personName: { a: 1 } }, "'Person Name' must be text"],
	[{ initialGreeting: { a: 1 } }, "'Initial Greeting' must be text"],
	...[
		...['example.com/hook', 'ftp://example.com', 'https://', 'https:///x', 'http:example.com'],
		...['https://?x', 'https://exa mple.com', 7],
	].map((url): [Values, string] => [
		webhook(url),
		`'Webhook URL' must be a complete URL (got "${url}"). It must start with https://`,
	]),
	[
		settings({ maxCallDurationSeconds: '' }),
		"'Maximum Duration (Seconds)' in 'Call Settings' must be a number (got an empty text). Enter a number.",
	],
	[
		settings({ retryMaxAttempts: 3 }),
		"'Retry Attempts' needs 'Retry When Not Answered'. In 'Call Settings', add 'Retry When Not Answered' and turn it on, or remove 'Retry Attempts'.",
	],
	[
		settings({ retryEnabled: false, retryIntervalMinutes: 3 }),
		"'Retry Interval (Minutes)' needs 'Retry When Not Answered'",
	],
	[settings({ retryMaxAttempts: 'many' }), "'Retry Attempts' in 'Call Settings' must be a number"],
	[
		settings({ enableCallback: 'yes' }),
		"'Allow Callback' in 'Call Settings' must be true or false",
	],
	[settings({ retryEnabled: 1 }), "'Retry When Not Answered' in 'Call Settings' must be true or"],
	[
		rows({ name: 'plan', value: 'Gold' }, { name: ' ', value: 'x' }),
		"Field 2 of 'Additional Data' has no name. Enter the name of the value for the agent, or remove the field.",
	],
	...['', ' ', null, undefined].map((description): [Values, string] => [
		points(POINT, { key: 'budget', description }),
		`Data Point 2 ("budget") of 'Data Extraction' has no description. Describe what the agent should ask or extract.`,
	]),
	[
		points({ description: 'x', required: 'maybe' }),
		`'Required' in Data Point 1 of 'Data Extraction' must be true or false (got "maybe")`,
	],
	...[0, 1.5, 11].map((maximumCalls): [Values, string] => [
		limit({ maximumCalls }),
		`'Maximum Calls' must be a whole number from 1 to 10 (got ${maximumCalls}). Enter a whole`,
	]),
	[limit({ callLimit: 'year' }), "'Limit Calls per Person'"],
])('%j is rejected', (values, message) => {
	const rejection = messageFor(values);
	expect(rejection).toContain(message);
	expect(rejection).not.toMatch(/error|problem|failure/i);
});

test.each([
	['Hello NULL, this is Priya.', 'NULL'],
	['Hello #NAME?, this is Priya.', '#NAME?'],
	['Hello undefined!', 'undefined'],
	['Your balance is #DIV/0!.', '#DIV/0!'],
])('an expression for the greeting that returns %j is rejected', (initialGreeting, word) => {
	const expressions = { initialGreeting: '=Hello {{ $json.name }}' };
	expect(messageOf(() => callWith({ initialGreeting }, 'UTC', expressions))).toBe(
		`'Initial Greeting' has the word "${word}" instead of a value. The agent would say it. Check the cells that the expression uses.`,
	);
	expect(requestWith({ initialGreeting }).initial_greeting).toBe(initialGreeting);
});

test.each([
	['=Hello {{ $json.name }}, this is Priya.', 'Hello , this is Priya.'],
	['=Hello {{ $json.name }}, this is Priya.\n', 'Hello , this is Priya.'],
	['=Hello {{ $json.first }} {{ $json.last }}, is it you?', 'Hello  Rao, is it you?'],
	['=Hello {{ $json.first }} {{ $json.last }}, is it you?', 'Hello Asha , is it you?'],
	['=Hello {{ $json.first }}{{ $json.last }}!', 'Hello !'],
	['={{ $json.name }}, this is Priya.', ', this is Priya.'],
	[
		'=Your visit on {{ $json.day }} at {{ $json.time }} is due.',
		'Your visit on Monday at  is due.',
	],
])('the greeting %j with a gap is rejected: %j', (expression, initialGreeting) => {
	const expressions = { initialGreeting: expression };
	expect(messageOf(() => callWith({ initialGreeting }, 'UTC', expressions))).toBe(
		`'Initial Greeting' has a gap, because an expression in it is empty (got "${initialGreeting}"). Fill the column. Or for people without a value, write the space into the expression: Hello{{ $json.name ? ' ' + $json.name : '' }}, this is Priya.`,
	);
	expect(requestWith({ initialGreeting }).initial_greeting).toBe(initialGreeting);
});

test.each([
	["=Hello{{ $json.name ? ' ' + $json.name : '' }}, this is Priya.", 'Hello, this is Priya.'],
	["=Hello{{ $json.name ? ' ' + $json.name : '' }}, this is Priya.", 'Hello Asha, this is Priya.'],
	['=Hi{{ $json.a }}{{ $json.b }}, this is Priya.', 'Hi, this is Priya.'],
	['=Hello {{ $json.name }}', 'Hello'],
	['=Hello {{ $json.name }}, this is Priya, {{ $json.role }}.', 'Hello A, this is Priya, B.'],
	['=Hello {{ $json.name }}, this is Priya.', 'Hello A, B, this is Priya.'],
	['={{ $json.greeting }}', 'Hello , this is Priya.'],
	['={{ "Hello " }}{{ $json.name }}', 'Hello'],
	['=Price: {{ $json.price }} , or less', 'Price: 5 , or less'],
])('the greeting %j without a gap is sent: %j', (expression, initialGreeting) => {
	const { request } = callWith({ initialGreeting }, 'UTC', { initialGreeting: expression });
	expect(request.initial_greeting).toBe(initialGreeting);
});

test.each(['x', '👋'])('a greeting may have 2000 characters such as %s', (character) => {
	const initialGreeting = character.repeat(2000);
	expect(requestWith({ initialGreeting }).initial_greeting).toBe(initialGreeting);
	expect(messageFor({ initialGreeting: `${initialGreeting}x` })).toBe(
		"'Initial Greeting' has 2001 characters, but the maximum is 2000. Shorten it by 1.",
	);
});

const boundsOf = (path: string): [min: number, max: number] => [
	boundOf(`CallConfigOverrides.properties.${path}.minimum`),
	boundOf(`CallConfigOverrides.properties.${path}.maximum`),
];

test.each<[name: string, field: string, min: number, max: number, sent: (n: number) => Values]>([
	[
		'maxCallDurationSeconds',
		'Maximum Duration (Seconds)',
		...boundsOf('max_call_duration_seconds'),
		(seconds) => ({ call_config_overrides: { max_call_duration_seconds: seconds } }),
	],
	[
		'retryMaxAttempts',
		'Retry Attempts',
		...boundsOf('retry_config.properties.max_attempts'),
		(value) => retry({ max_attempts: value }),
	],
	[
		'retryIntervalMinutes',
		'Retry Interval (Minutes)',
		...boundsOf('retry_config.properties.interval_minutes'),
		(value) => retry({ interval_minutes: value }),
	],
])('%s (%s) may be from %i to %i', (name, field, min, max, sent) => {
	for (const value of [min, max]) {
		expect(requestWith(settings({ retryEnabled: true, [name]: value }))).toMatchObject(sent(value));
	}
	for (const value of [min - 1, max + 1, min + 0.5, -1]) {
		expect(messageFor(settings({ [name]: value }))).toBe(
			`'${field}' must be a whole number from ${min} to ${max} (got ${value}). Enter a whole number from ${min} to ${max}.`,
		);
	}
});

// A spreadsheet subtracts if +91-9876543210 is typed as a formula.
test.each([-9876543119, 98765.4321, 9.88e30])(
	'the number %p of a cell is no phone number',
	(phone) => {
		expect(messageFor({ phoneNumber: phone })).toMatch(/^'Phone Number' /);
	},
);

test('of several invalid fields, the first one is reported', () => {
	const invalid = { agentUuid: '', phoneNumber: '+91', ...settings({ retryMaxAttempts: 11 }) };
	expect(messageFor(invalid)).toMatch(/^'Agent' is empty\. Choose/);
	expect(messageFor({ ...invalid, agentUuid: 'agent_1' })).toContain(
		`'Phone Number' "+91" has 0 digits after +91 instead of 10. Enter`,
	);
});

test('a limit without a number is one call', () => {
	const { time } = callWith({ callLimit: 'day' });
	expect(time.limit).toEqual({ calls: 1, period: 'day' });
});
