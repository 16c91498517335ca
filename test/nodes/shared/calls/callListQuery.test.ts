import { DateTime } from 'luxon';
import { callListQuery, type CallFilters } from '../../../../nodes/shared/calls/callListQuery';
import { ApiMapping } from '../../../../nodes/shared/apiMapping';
import { explainedBy } from '../explainedBy';

const NAMES = {
	callListStatusName: 'st',
	callListAgentName: 'ag',
	callListCampaignName: 'ca',
	callListFromName: 'since',
	callListToName: 'until',
	callListPhoneName: 'ph',
};
const ZONE = 'Asia/Kolkata';
const query = (filters: CallFilters, form?: string) =>
	callListQuery(
		filters,
		new ApiMapping({ ...NAMES, ...(form && { callListDateForm: form }) }),
		ZONE,
	);

test('an empty filter is not sent, and needs no name, nor does the documented one', () => {
	const empty = { status: '', agentUuid: ' ', campaignId: null, to: undefined, phone: '' };
	const filters = { ...empty, campaignUploadId: '7' };
	expect(callListQuery(filters, new ApiMapping({}), ZONE)).toEqual({ campaign_upload_id: 7 });
});

/** Expects the error for missing fields of the credential. */
function expectMissing(act: () => unknown, labels: string): void {
	expect(explainedBy(act)).toMatchObject({
		message: 'The credential lacks settings for the call list',
		resolution: expect.stringMatching(new RegExp(` and fill in ${labels}\\.$`)),
	});
}

test.each<[keyof CallFilters, unknown, string]>([
	['status', 'picked', 'Status Filter Name'],
	['agentUuid', 'agent_a1', 'Agent Filter Name'],
	['campaignId', 42, 'Campaign Filter Name'],
	['from', '2027-01-31', 'From Filter Name'],
	['to', '2027-01-31', 'To Filter Name'],
	['phone', '98', 'Phone Filter Name'],
])('%s without its name in the credential', (name, value, label) => {
	expectMissing(() => callListQuery({ [name]: value }, new ApiMapping({}), ZONE), `'${label}'`);
});

describe('the date range', () => {
	const DATE = DateTime.fromISO('2027-01-31T18:30:00', { zone: ZONE });
	test.each<[string, unknown, string | undefined, string]>([
		["in the workflow's zone", '2027-01-31T18:30:00', undefined, '2027-01-31T18:30:00+05:30'],
		['with a blank', '2027-01-31 18:30', undefined, '2027-01-31T18:30:00+05:30'],
		['with an offset, kept', '2027-01-31T18:30:00+02:00', undefined, '2027-01-31T18:30:00+02:00'],
		['in UTC', '2027-01-31T18:30:00Z', undefined, '2027-01-31T18:30:00+00:00'],
		['a luxon DateTime', DATE, undefined, '2027-01-31T18:30:00+05:30'],
		['a Date', new Date('2027-01-31T13:00:00Z'), undefined, '2027-01-31T18:30:00+05:30'],
		['a bare date, kept', '2027-01-31', undefined, '2027-01-31'],
		['as a date', '2027-01-31T18:30:00', 'date', '2027-01-31'],
		["as a date in the workflow's zone", '2027-01-30T19:00:00Z', 'date', '2027-01-31'],
	])('%s', (_name, from, form, sent) => {
		expect(query({ from }, form)).toEqual({ since: sent });
		expect(query({ to: from }, form)).toEqual({ until: sent });
	});

	test.each([
		['dateTime', '2027-01-31T00:00:00+05:30', '2027-01-31T23:59:59+05:30'],
		['date', '2027-01-31', '2027-01-31'],
	])('a bare date includes the day, as %s', (form, since, until) => {
		expect(query({ from: '2027-01-31', to: '2027-01-31' }, form)).toEqual({ since, until });
	});

	test('From must not be later than To', () => {
		expect(() => query({ from: '2027-02-01', to: '2027-01-31' })).toThrow(
			`'From' ("2027-02-01") is later than 'To' ("2027-01-31")`,
		);
	});

	test.each([
		...['yesterday', '31/01/2027', {}, '18:30', '24:00', '2027', 2027, '2027-01', '2027-W05'],
		...['2027-031', '+012027-01-01', '2027-01-311', '2027-02-30', '2027-01-31/2027-02-01', NaN],
		...['2027-01-31T18:30:00+25:00', '2027-01-31T18:30:00-14:01', 1801400400, '1801400400'],
	])('%p is not a date', (from) => {
		expect(() => query({ from })).toThrow('must be a date (got ');
	});
});

test('two filters with the same name are both sent', () => {
	const details = new ApiMapping({
		callListFromName: 'created',
		callListToName: 'created',
		callListPhoneName: 'q',
		callListStatusName: 'q',
	});
	const filters = { from: '2027-01-31', to: '2027-02-28', status: 'picked', phone: '98' };
	expect(callListQuery(filters, details, ZONE)).toEqual({
		created: ['2027-01-31', '2027-02-28'],
		q: ['picked', '98'],
	});
});

test('a phone number in digits of another script is sent in Latin digits', () => {
	const details = new ApiMapping({ callListPhoneName: 'q' });
	expect(callListQuery({ phone: '९८७६५' }, details, ZONE)).toEqual({ q: '98765' });
});

test.each<[CallFilters, string]>([
	[{ campaignId: 'spring' }, `'Campaign ID' must be a whole number (got "spring")`],
	[{ agentUuid: 'sales' }, `'Agent' must be an agent ID (got "sales")`],
])('%p is rejected before sending', (filters, message) => {
	expect(() => query(filters)).toThrow(message);
});
