import type { INodeParameters } from 'n8n-workflow';
import { output } from '../../engine';
import { acceptCalls, BODY, callsEndpoint, faultOf, placeCallHarness } from './placeCallHarness';

const { place } = placeCallHarness();

async function sent(parameters: INodeParameters, item = {}, settings = {}) {
	const bodies = acceptCalls(1);
	const run = await place(parameters, { items: [item], settings });
	expect(run.data.resultData.error).toBeUndefined();
	return bodies[0];
}

describe('what is sent', () => {
	it('only the required fields when nothing else is set', async () => {
		expect(await sent({})).toEqual(BODY);
	});

	it.each(['+91 98765 43210', '098765 43210', '919876543210', 9876543210])(
		'the ten digits of %p, as written in a form, CRM, or spreadsheet',
		async (phone) => {
			expect(await sent({ phoneNumber: '={{ $json.phone }}' }, { phone })).toMatchObject({
				phone_number: '9876543210',
				country_code: 'IN',
			});
		},
	);

	it.each<[name: string, parameters: INodeParameters, fields: object]>([
		['Person Name', { personName: 'Asha Rao' }, { person_name: 'Asha Rao' }],
		['Initial Greeting', { initialGreeting: 'Hello!' }, { initial_greeting: 'Hello!' }],
		['System Prompt', { options: { systemPrompt: 'Be kind.' } }, { system_prompt: 'Be kind.' }],
		[
			'Webhook URL',
			{ options: { webhookUrl: 'https://example.com/x' } },
			{ webhook_url: 'https://example.com/x' },
		],
		[
			'Additional Data as fields',
			{
				additionalDataFields: {
					fields: [
						{ name: 'plan', value: 'Gold' },
						{ name: 'city', value: '' },
					],
				},
			},
			{ additional_data: { plan: 'Gold', city: '' } },
		],
		[
			'Additional Data as JSON',
			{ developerSettings: { additionalDataJson: '{ "plan": { "name": "Gold" } }' } },
			{ additional_data: { plan: { name: 'Gold' } } },
		],
		[
			'Additional Data as JSON that an expression gives',
			{ developerSettings: { additionalDataJson: '={{ ({ plan: "Gold", visits: 3 }) }}' } },
			{ additional_data: { plan: 'Gold', visits: 3 } },
		],
		[
			'Data Extraction',
			{
				dataExtraction: {
					points: [
						{ description: 'Which day?', key: 'day', outputFormat: 'weekday', required: true },
						{ description: 'Anything else?' },
					],
				},
			},
			{
				data_extraction: [
					{ description: 'Which day?', key: 'day', output_format: 'weekday', required: true },
					{ description: 'Anything else?', required: false },
				],
			},
		],
		[
			'Maximum Duration',
			{ callConfigOverrides: { maxCallDurationSeconds: 30 } },
			{ call_config_overrides: { max_call_duration_seconds: 30 } },
		],
		[
			'Allow Callback off',
			{ callConfigOverrides: { enableCallback: false } },
			{ call_config_overrides: { enable_callback: false } },
		],
		[
			'Retry When Not Answered off',
			{ callConfigOverrides: { retryEnabled: false } },
			{ call_config_overrides: { retry_config: { enabled: false } } },
		],
		[
			'retries in full',
			{
				callConfigOverrides: {
					retryEnabled: true,
					retryMaxAttempts: 10,
					retryIntervalMinutes: 1440,
				},
			},
			{
				call_config_overrides: {
					retry_config: { enabled: true, max_attempts: 10, interval_minutes: 1440 },
				},
			},
		],
		[
			'Additional Body Fields',
			{
				developerSettings: { additionalBodyFields: '{ "priority": "high", "phone_number": "1" }' },
			},
			{ priority: 'high' },
		],
	])('%s', async (_name, parameters, fields) => {
		expect(await sent(parameters)).toEqual({ ...BODY, ...fields });
	});

	it('Additional Query Fields in the URL', async () => {
		const bodies = acceptCalls(1, '/v1/call?locale=en&n=2');
		await place({ developerSettings: { additionalQueryParameters: '{ "locale": "en", "n": 2 }' } });
		expect(bodies).toEqual([BODY]);
	});

	it('Use Legacy Endpoint uses the older path', async () => {
		const bodies = acceptCalls(1, '/call');
		await place({ developerSettings: { useLegacyEndpoint: true } });
		expect(bodies).toEqual([BODY]);
	});

	it('expressions for each item, also with values as in spreadsheets', async () => {
		const item = {
			agent: ' agent_a1 ',
			country: 'in',
			phone: 9876543210,
			name: 42,
			seconds: '60',
			callback: 'FALSE',
		};
		const parameters = {
			agentUuid: { __rl: true, mode: 'id', value: '={{ $json.agent }}' },
			countryCode: '={{ $json.country }}',
			phoneNumber: '={{ $json.phone }}',
			personName: '={{ $json.name }}',
			callConfigOverrides: {
				maxCallDurationSeconds: '={{ $json.seconds }}',
				enableCallback: '={{ $json.callback }}',
			},
		};
		expect(await sent(parameters, item)).toEqual({
			...BODY,
			person_name: '42',
			call_config_overrides: { max_call_duration_seconds: 60, enable_callback: false },
		});
	});

	it('nothing for a missing column', async () => {
		const parameters = {
			personName: '={{ $json.name }}',
			initialGreeting: '={{ $json.greeting }}',
			additionalDataFields: { fields: [{ name: 'plan', value: '={{ $json.plan }}' }] },
		};
		expect(await sent(parameters)).toEqual({ ...BODY, additional_data: { plan: '' } });
	});
});

describe('When to Call', () => {
	const india = { timezone: 'Asia/Kolkata' };

	it.each<[name: string, parameters: INodeParameters, scheduledAt: string]>([
		['a time in India', { when: 'timeOfDay', scheduledTime: '18:30' }, '18:30'],
		[
			'a time of the date picker, in the zone of the workflow',
			{ when: 'dateTime', scheduledAt: '2099-11-20T10:00:00' },
			'2099-11-20T10:00:00+05:30',
		],
		[
			'text with an offset',
			{ when: 'dateTime', scheduledAt: '={{ $json.at }}' },
			'2099-11-20T10:00:00-05:00',
		],
		[
			'a luxon DateTime',
			{ when: 'dateTime', scheduledAt: '={{ DateTime.fromISO($json.at, { setZone: true }) }}' },
			'2099-11-20T10:00:00-05:00',
		],
		[
			'text of a DateTime',
			{ when: 'dateTime', scheduledAt: '={{ $json.naive.toDateTime().toISO() }}' },
			'2099-11-20T10:00:00.000+05:30',
		],
		[
			'a DateTime of n8n',
			{ when: 'dateTime', scheduledAt: '={{ $json.naive.toDateTime() }}' },
			'2099-11-20T10:00:00+05:30',
		],
		[
			'a JavaScript date',
			{ when: 'dateTime', scheduledAt: '={{ new Date($json.at) }}' },
			'2099-11-20T20:30:00+05:30',
		],
	])('%s', async (_name, parameters, scheduledAt) => {
		const item = { at: '2099-11-20T10:00:00-05:00', naive: '2099-11-20T10:00:00' };
		expect(await sent(parameters, item, india)).toEqual({ ...BODY, scheduled_at: scheduledAt });
	});

	it.each<[name: string, parameters: INodeParameters, message: string]>([
		[
			'a picked time in the past',
			{ when: 'dateTime', scheduledAt: '2026-01-01T10:00:00' },
			"'Date and Time' is in the past (1 January 2026, 10:00, Asia/Kolkata)",
		],
		[
			'a naive text of an expression',
			{ when: 'dateTime', scheduledAt: '={{ "2099-11-20T10:00:00" }}' },
			`'Date and Time' needs a UTC offset (got "2099-11-20T10:00:00")`,
		],
		[
			'an empty column',
			{ when: 'dateTime', scheduledAt: '={{ $json.none }}' },
			"'Date and Time' is empty",
		],
		[
			'an empty time of day',
			{ when: 'timeOfDay', scheduledTime: '={{ $json.none }}' },
			"'Time in India' is empty",
		],
		[
			'an invalid time of day',
			{ when: 'timeOfDay', scheduledTime: '6 pm' },
			`'Time in India' must be a 24-hour time (got "6 pm")`,
		],
		[
			'a time of day as date and time',
			{ when: 'dateTime', scheduledAt: '={{ "09:15" }}' },
			`'Date and Time' must be a date and time (got "09:15")`,
		],
		['an unknown choice', { when: 'later' }, `'When to Call' must be a time (got "later")`],
	])('%s places no call', async (_name, parameters, message) => {
		expect(faultOf(await place(parameters, { settings: india })).message).toBe(message);
	});
});

describe('the output', () => {
	it('has the data of the response, and the message beside it', async () => {
		const bodies = acceptCalls(1);
		const run = await place({});
		expect(bodies).toHaveLength(1);
		expect(output(run, 'Node')).toEqual([
			{
				json: { call_id: 'call-9876543210', phone_key: '919876543210' },
				pairedItem: { item: 0 },
			},
		]);
	});

	it.each<[country: string, phone: string, key: string | null]>([
		['IN', '+91 98765 43210', '919876543210'],
		['GB', '020 7946 0958', '442079460958'],
		// It may start with the country code or not.
		['SG', '65123456', null],
	])('the number as a key to match rows by: %s %p', async (countryCode, phone, phone_key) => {
		acceptCalls(1);
		const parameters = { countryCode, phoneNumber: '={{ $json.phone }}' };
		const run = await place(parameters, { items: [{ phone }] });
		expect(output(run, 'Node')).toMatchObject([{ json: { phone_key } }]);
	});

	it('Include Input Fields: has the row, and its columns replace no field of the response', async () => {
		const data = {
			call_id: 'a',
			scheduled_at: '2099-01-01T10:00:00Z',
			scheduled_at_epoch: 4070944800,
		};
		callsEndpoint().reply(200, { success: true, data });
		const row = { row_number: 7, name: 'Asha', scheduled_at: 'a column', call_id: 'old' };
		const parameters = { options: { includeInputFields: true } };
		const run = await place(parameters, { items: [{ ...row, error: 'was here' }] });
		expect(output(run, 'Node')).toEqual([
			{
				json: {
					row_number: 7,
					name: 'Asha',
					error: 'was here',
					...data,
					phone_key: '919876543210',
				},
				pairedItem: { item: 0 },
			},
		]);
	});

	it('Include Input Fields: has no output of an earlier call in the row', async () => {
		acceptCalls(1);
		const row = {
			note: 'x',
			scheduled_at_epoch: 4070944800,
			timed_out: true,
			not_read: 'y',
			waits_until: 'z',
		};
		const parameters = { options: { includeInputFields: true } };
		const [item] = output(await place(parameters, { items: [row] }), 'Node');
		expect(item?.json).toEqual({
			note: 'x',
			call_id: 'call-9876543210',
			phone_key: '919876543210',
		});
	});

	it("keeps the service's own phone_key", async () => {
		const data = { call_id: 'a', phone_key: 'theirs' };
		callsEndpoint().reply(200, { success: true, data });
		expect(output(await place(), 'Node')).toMatchObject([{ json: data }]);
	});
});
