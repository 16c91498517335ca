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
	it('Additional Query Fields in the URL', async () => {
		const bodies = acceptCalls(1, '/v1/call?locale=en&n=2');
		await place({ developerSettings: { additionalQueryParameters: '{ "locale": "en", "n": 2 }' } });
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
});

describe('When to Call', () => {
	const india = { timezone: 'Asia/Kolkata' };

	it.each<[name: string, parameters: INodeParameters, scheduledAt: string]>([
		[
			'a time of the date picker, in the zone of the workflow',
			{ when: 'dateTime', scheduledAt: '2099-11-20T10:00:00' },
			'2099-11-20T10:00:00+05:30',
		],
		[
			'a luxon DateTime',
			{ when: 'dateTime', scheduledAt: '={{ DateTime.fromISO($json.at, { setZone: true }) }}' },
			'2099-11-20T10:00:00-05:00',
		],
		[
			'text of a DateTime',
			{ when: 'dateTime', scheduledAt: '={{ $json.naive.toDateTime().toISO() }}' },
			'2099-11-20T10:00:00+05:30',
		],
		[
			'a DateTime of n8n',
			{ when: 'dateTime', scheduledAt: '={{ $json.naive.toDateTime() }}' },
			'2099-11-20T10:00:00+05:30',
		],
	])('%s', async (_name, parameters, scheduledAt) => {
		const item = { at: '2099-11-20T10:00:00-05:00', naive: '2099-11-20T10:00:00' };
		expect(await sent(parameters, item, india)).toEqual({ ...BODY, scheduled_at: scheduledAt });
	});

	it.each(['dateTime', 'timeOfDay'])('an empty column places no call (%s)', async (when) => {
		const empty = '={{ $json.none }}';
		const run = await place({ when, scheduledAt: empty, scheduledTime: empty });
		expect(faultOf(run).message).toMatch(/^'(Date and Time|Time in India)' is empty$/);
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

	it('has no key of a number that may start with the country code or not', async () => {
		acceptCalls(1);
		const run = await place({ countryCode: 'SG', phoneNumber: '65123456' });
		expect(output(run, 'Node')).toMatchObject([{ json: { phone_key: null } }]);
	});

	it('Include Input Fields: has the row without the fields of an earlier call', async () => {
		const data = {
			call_id: 'a',
			scheduled_at: '2099-01-01T10:00:00Z',
			scheduled_at_epoch: 4070944800,
		};
		callsEndpoint().reply(200, { success: true, data });
		const row = { row_number: 7, name: 'Asha', error: 'was here' };
		const earlier = {
			...{ scheduled_at: 'a column', call_id: 'old', scheduled_at_epoch: 1 },
			...{ timed_out: true, not_read: 'y', waits_until: 'z', next_call_possible_at: 'x' },
		};
		const parameters = { options: { includeInputFields: true } };
		const run = await place(parameters, { items: [{ ...row, ...earlier }] });
		expect(output(run, 'Node')).toEqual([
			{ json: { ...row, ...data, phone_key: '919876543210' }, pairedItem: { item: 0 } },
		]);
	});

	it("keeps the service's own phone_key", async () => {
		const data = { call_id: 'a', phone_key: 'theirs' };
		callsEndpoint().reply(200, { success: true, data });
		expect(output(await place(), 'Node')).toMatchObject([{ json: data }]);
	});
});
