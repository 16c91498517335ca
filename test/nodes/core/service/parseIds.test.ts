import { InvalidInput } from '../../../../nodes/core/service/errors';
import {
	parseAgentUuid,
	parseCallId,
	parseCampaignId,
	parseContactListId,
	parseCount,
	parseWholeNumber,
} from '../../../../nodes/core/service/parseIds';
import { asText } from '../../../../nodes/core/values/values';
import { explainedBy } from '../values/explainedBy';

const count = (value: unknown) => parseCount(value, 'Limit', 'Enter a number.');
const whole = (value: unknown) => parseWholeNumber(value, 'Limit', 'Enter a number.');

test.each([
	['an agent', parseAgentUuid, ' agent_5f-2c_9A ', 'agent_5f-2c_9A'],
	['a call', parseCallId, ' 6f1c2a34-9b1e-4c55 ', '6f1c2a34-9b1e-4c55'],
	['a campaign', parseCampaignId, 42, 42],
	['a contact list', parseContactListId, ' 314 ', 314],
	['a whole number', whole, '007', 7],
	['a count', count, 1, 1],
	['text', asText, { a: 1 }, '{"a":1}'],
	['text', asText, null, ''],
])('%s: %p %p', (_name, parse, value, expected) => {
	expect(parse(value)).toBe(expected);
});

test.each([
	['an agent', parseAgentUuid, 'my agent_1', `(got "my agent_1")`, 'agent_'],
	['an agent', parseAgentUuid, '', "'Agent' is empty", 'Enter an agent ID'],
	['a call', parseCallId, '../a', `'Call ID' must be the ID of a call (got "../a")`, 'such as'],
	[
		'a campaign',
		parseCampaignId,
		'-3',
		`'Campaign' must be a whole number (got "-3")`,
		'Enter the ID of a campaign',
	],
	[
		'a contact list',
		parseContactListId,
		'x1',
		`'Contact List ID' must be a whole number (got "x1")`,
		'campaign_upload_id',
	],
	['a whole number', whole, '1e3', `'Limit' must be a whole number (got "1e3")`, 'Enter a number.'],
	[
		'a whole number',
		whole,
		'9007199254740993',
		`'Limit' must be a whole number`,
		'Enter a number.',
	],
	['a count', count, 0, "'Limit' must be at least 1", 'Enter a number.'],
])('%s is not %p %p', (_name, parse, value, message, resolution) => {
	const error = explainedBy(() => parse(value));
	expect(error).toBeInstanceOf(InvalidInput);
	expect(error.message).toContain(message);
	expect(error.description).toContain(resolution);
});
