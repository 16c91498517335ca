import { callWith, messageFor, requestWith } from '../callForm';

const body = { agent_uuid: 'agent_a1', country_code: 'IN', phone_number: '9876543210' };

describe('the body', () => {
	it('has only the three required fields by default', () => {
		expect(requestWith({})).toEqual(body);
		expect(
			requestWith({
				personName: '',
				initialGreeting: null,
				when: 'now',
				callConfigOverrides: {},
				options: { systemPrompt: '  ', webhookUrl: '' },
				developerSettings: { additionalDataJson: '' },
			}),
		).toEqual(body);
	});

	it('has every field under its name', () => {
		const all = {
			personName: 'Asha Rao',
			when: 'timeOfDay',
			scheduledTime: '18:30',
			dataExtraction: {
				points: [
					{
						key: 'budget',
						description: 'What is the budget?',
						required: true,
						outputFormat: 'A number',
					},
					{ description: 'Anything else?', key: '', required: false, outputFormat: '' },
				],
			},
			additionalDataFields: { fields: [{ name: ' plan ', value: 'Gold' }] },
			callConfigOverrides: {
				maxCallDurationSeconds: 300,
				enableCallback: false,
				retryEnabled: false,
				retryMaxAttempts: 2,
				retryIntervalMinutes: 60,
			},
			initialGreeting: 'Hello!',
			options: { systemPrompt: 'Be kind.', webhookUrl: 'https://example.com/hook?x=1' },
			developerSettings: {
				additionalDataJson: { plan: 'Silver', visits: 3, tags: ['a'], nested: { a: null } },
			},
		};
		expect(requestWith(all)).toEqual({
			...body,
			person_name: 'Asha Rao',
			scheduled_at: '18:30',
			additional_data: { plan: 'Gold', visits: 3, tags: ['a'], nested: { a: null } },
			data_extraction: [
				{
					key: 'budget',
					description: 'What is the budget?',
					required: true,
					output_format: 'A number',
				},
				{ description: 'Anything else?', required: false },
			],
			call_config_overrides: {
				max_call_duration_seconds: 300,
				enable_callback: false,
				retry_config: { enabled: false, max_attempts: 2, interval_minutes: 60 },
			},
			initial_greeting: 'Hello!',
			system_prompt: 'Be kind.',
			webhook_url: 'https://example.com/hook?x=1',
		});
	});

	it.each([
		[{ enableCallback: false }, { enable_callback: false }],
		[{ retryEnabled: false }, { retry_config: { enabled: false } }],
		[{ retryMaxAttempts: 1 }, { retry_config: { max_attempts: 1 } }],
		[{ maxCallDurationSeconds: 30 }, { max_call_duration_seconds: 30 }],
	])('%p alone overrides nothing else', (over, overrides) => {
		expect(requestWith({ callConfigOverrides: over })).toEqual({
			...body,
			call_config_overrides: overrides,
		});
	});
});

describe('Agent', () => {
	it.each(['agent_a', 'agent_A-b_9', ' agent_a1 '])('%p is sent', (agentUuid) => {
		expect(requestWith({ agentUuid }).agent_uuid).toBe(agentUuid.trim());
	});

	it.each(['a1', 'agent_', 'Agent_a1', 'agent_a b', 'agent_ä', 42])(
		'%p is rejected',
		(agentUuid) => {
			expect(messageFor({ agentUuid })).toMatch(
				/^'Agent' must be an agent ID \(got ".*"\)\. Choose the agent from the list, or enter its ID, which begins with "agent_"/,
			);
		},
	);

	it.each(['', null, undefined])('%p is rejected', (agentUuid) => {
		expect(messageFor({ agentUuid })).toBe(
			"'Agent' is empty. Choose the agent from the list, or enter its ID.",
		);
	});
});

describe('Country', () => {
	it.each(['IN', 'in', ' In '])('%p is sent as IN', (countryCode) => {
		expect(requestWith({ countryCode }).country_code).toBe('IN');
	});

	it.each([
		['Germany', 'Use DE for Germany.'],
		['turkiye', 'Use TR for Türkiye.'],
		['UK', 'Use GB for United Kingdom.'],
		['United', 'Use the two-letter code'],
		['+91', 'Use the two-letter code'],
		[91, 'Use the two-letter code'],
	])('%p is rejected: %s', (countryCode, resolution) => {
		const message = messageFor({ countryCode });
		expect(message).toContain(`'Country' must be a country code (got "${countryCode}")`);
		expect(message).toContain(resolution);
	});

	it('empty is rejected', () => {
		expect(messageFor({ countryCode: '' })).toContain("'Country' is empty");
	});
});

test('Phone Number is read for the Country', () => {
	expect(requestWith({ phoneNumber: '+91 98765 43210' })).toEqual(body);
	const british = { countryCode: 'gb', phoneNumber: '+44 (0) 20 7946 0958' };
	expect(requestWith(british)).toMatchObject({
		country_code: 'GB',
		phone_number: '2079460958',
	});
});

describe('Initial Greeting', () => {
	it.each(['x'.repeat(2000), '👋'.repeat(2000)])('2000 characters are sent', (initialGreeting) => {
		expect(requestWith({ initialGreeting }).initial_greeting).toBe(initialGreeting);
	});

	it.each(['x'.repeat(2001), '👋'.repeat(2001)])(
		'2001 characters are rejected',
		(initialGreeting) => {
			expect(messageFor({ initialGreeting })).toBe(
				"'Initial Greeting' has 2001 characters, but the maximum is 2000. Shorten it by 1.",
			);
		},
	);
});

describe('Webhook URL', () => {
	it.each(['http://example.com', 'https://example.com:8443/a?b=c#d', ' HTTPS://Example.com/x '])(
		'%p is sent',
		(webhookUrl) => {
			expect(requestWith({ options: { webhookUrl } }).webhook_url).toBe(webhookUrl.trim());
		},
	);

	it.each([
		'example.com/hook',
		'ftp://example.com',
		'https://',
		'https:///x',
		'http:example.com',
		'https://?x',
		'https://exa mple.com',
		7,
	])('%p is rejected', (webhookUrl) => {
		expect(messageFor({ options: { webhookUrl } })).toContain(
			`'Webhook URL' must be a complete URL (got "${webhookUrl}"). It must start with https://`,
		);
	});
});

describe('numbers with bounds', () => {
	const rows = [
		{
			name: 'maxCallDurationSeconds',
			field: 'Maximum Duration (Seconds)',
			min: 30,
			max: 1800,
		},
		{ name: 'retryMaxAttempts', field: 'Retry Attempts', min: 1, max: 10 },
		{ name: 'retryIntervalMinutes', field: 'Retry Interval (Minutes)', min: 1, max: 1440 },
	];

	function sent(name: string, value: unknown): unknown {
		const overrides = requestWith({ callConfigOverrides: { [name]: value } }).call_config_overrides;
		const { max_call_duration_seconds: duration, retry_config: retry } = overrides ?? {};
		return duration ?? retry?.max_attempts ?? retry?.interval_minutes;
	}

	it.each(rows)('$field is sent from $min to $max', ({ name, min, max }) => {
		expect(sent(name, min)).toBe(min);
		expect(sent(name, max)).toBe(max);
		expect(sent(name, String(max))).toBe(max);
	});

	it.each(rows)('$field outside of $min to $max is rejected', ({ name, field, min, max }) => {
		for (const value of [min - 1, max + 1, min + 0.5, -1]) {
			expect(messageFor({ callConfigOverrides: { [name]: value } })).toBe(
				`'${field}' must be a whole number from ${min} to ${max} (got ${value}). Enter a whole number from ${min} to ${max}.`,
			);
		}
	});

	it.each(rows)('$field that is not a number is rejected', ({ name, field }) => {
		for (const value of ['many', true, Number.NaN, [5]]) {
			expect(messageFor({ callConfigOverrides: { [name]: value } })).toContain(
				`'${field}' in 'Call Settings' must be a number (got `,
			);
		}
	});
});

describe('switches', () => {
	it.each([
		[true, true],
		[false, false],
		['true', true],
		['FALSE', false],
	])('%p is sent as %p', (value, sent) => {
		const overrides = requestWith({
			callConfigOverrides: { enableCallback: value },
		}).call_config_overrides;
		expect(overrides).toEqual({ enable_callback: sent });
	});

	it.each(['yes', 1, 0])('%p is rejected', (value) => {
		expect(messageFor({ callConfigOverrides: { enableCallback: value } })).toContain(
			"'Allow Callback' in 'Call Settings' must be true or false (got ",
		);
		expect(messageFor({ callConfigOverrides: { retryEnabled: value } })).toContain(
			"'Retry When Not Answered' in 'Call Settings' must be true or false (got ",
		);
	});
});

describe('Additional Data', () => {
	const fromJson = (additionalDataJson: unknown) => ({ developerSettings: { additionalDataJson } });

	it('may be written as JSON', () => {
		const { additional_data } = requestWith(fromJson('{"plan":"Gold"}'));
		expect(additional_data).toEqual({ plan: 'Gold' });
	});

	it.each([{}, '{}', ''])("%j, such as the default, isn't sent", (empty) => {
		expect(requestWith(fromJson(empty))).not.toHaveProperty('additional_data');
	});

	it.each([
		[['a'], 'a list'],
		['[1,2]', 'a list'],
		['"text"', 'a single value'],
		['null', 'a single value'],
		[5, 'a single value'],
		[true, 'a single value'],
		['{plan: Gold}', 'not JSON'],
	])('%p is %s', (value, kind) => {
		const message = messageFor(fromJson(value));
		expect(message).toContain(
			`'Additional Data as JSON' must be a JSON object, but is ${kind} (got `,
		);
		expect(message).toContain('Enter names and values');
	});

	it('a field without a name is reported with its position', () => {
		const fields = [
			{ name: 'plan', value: 'Gold' },
			{ name: ' ', value: 'x' },
		];
		expect(messageFor({ additionalDataFields: { fields } })).toBe(
			"Field 2 of 'Additional Data' has no name. Enter the name of the value for the agent, or remove the field.",
		);
	});
});

describe('Data Extraction', () => {
	it.each(['', ' ', null, undefined])(
		'a data point with Description %p is reported with its position',
		(description) => {
			const points = [{ description: 'Fine' }, { key: 'budget', description }];
			expect(messageFor({ dataExtraction: { points } })).toBe(
				`Data Point 2 ("budget") of 'Data Extraction' has no description. Describe what the agent should ask or extract.`,
			);
		},
	);

	it('a Required that is not a boolean is rejected', () => {
		const points = [{ description: 'x', required: 'maybe' }];
		expect(messageFor({ dataExtraction: { points } })).toContain(
			`'Required' in Data Point 1 of 'Data Extraction' must be true or false (got "maybe")`,
		);
	});
});

describe('texts', () => {
	it.each([
		['personName', 'Person Name'],
		['initialGreeting', 'Initial Greeting'],
	])('%s that is not text is rejected', (name, field) => {
		expect(messageFor({ [name]: { a: 1 } })).toContain(`'${field}' must be text`);
	});

	it('a name that is a number in a spreadsheet is sent as text', () => {
		expect(requestWith({ personName: 42 }).person_name).toBe('42');
	});

	it('a long value is shortened', () => {
		expect(messageFor({ options: { webhookUrl: 'x'.repeat(500) } }).length).toBeLessThan(300);
	});
});

it('reports all invalid fields at the same time', () => {
	const message = messageFor({
		agentUuid: '',
		phoneNumber: '+91',
		callConfigOverrides: { retryMaxAttempts: 11 },
	});
	expect(message).toContain("3 fields need attention, so the call wasn't placed");
	expect(message).toContain("(1) 'Agent' is empty. Choose");
	expect(message).toContain(`(2) 'Phone Number' "+91" has 0 digits after +91 instead of 10. Enter`);
	expect(message).toContain(
		"(3) 'Retry Attempts' must be a whole number from 1 to 10 (got 11). Enter a whole number from 1 to 10.",
	);
});

it('speaks without the words error, problem and failure', () => {
	const messages = [
		messageFor({
			agentUuid: 'x',
			countryCode: 'x',
			phoneNumber: 'x',
			options: { webhookUrl: 'x' },
		}),
		messageFor({
			callConfigOverrides: { maxCallDurationSeconds: 1 },
			developerSettings: { additionalDataJson: '[' },
		}),
	];
	expect(messages.join(' ')).not.toMatch(/error|problem|failure/i);
});

test('the number is compared in its international form, as entered', () => {
	expect(callWith({}).phoneKey).toBe('919876543210');
	expect(callWith({ countryCode: 'GB', phoneNumber: '+44 20 7946 0958' }).phoneKey).toBe(
		'442079460958',
	);
});
