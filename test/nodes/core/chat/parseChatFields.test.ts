import { InvalidInput } from '../../../../nodes/core/service/errors';
import {
	parseSessionId,
	requireText,
	splitSessionIds,
} from '../../../../nodes/core/chat/parseChatFields';
import { explainedBy } from '../values/explainedBy';

const ONE = '0f8fad5b-d9cb-469f-a165-70867728950e';
const TWO = '7C9E6679-7425-40DE-944B-E07FC1F90AE7';

test.each([
	`${ONE}0`,
	` ${ONE}`,
	'0f8fad5bd9cb469fa16570867728950e',
	'0f8fad5b-d9cb-469f-a165-7086772895zz',
])('"%s" is rejected', (text) => {
	expect(() => parseSessionId(text)).toThrow(InvalidInput);
	expect(() => parseSessionId(text)).toThrow(`'Session ID' isn't a session ID (got "${text}")`);
});

test('the resolution names the source of a session ID', () => {
	expect(explainedBy(() => parseSessionId(''))).toMatchObject({
		message: "'Session ID' is empty",
		resolution: expect.stringMatching(/^Enter the session_id that .* such as "0f8fad5b-/),
	});
});

test('text for people stays as written, and must not be empty', () => {
	expect(requireText(' Hello\n', 'Message')).toBe(' Hello\n');
	for (const empty of ['', ' \n']) {
		expect(explainedBy(() => requireText(empty, 'Message'))).toMatchObject({
			message: "'Message' is empty",
			resolution: expect.stringMatching(/^Enter the words of the customer/),
		});
	}
});

test.each<[string, unknown, string[]]>([
	['a list with spaces and empty entries', [` ${ONE} `, '', null, TWO], [ONE, TWO]],
	['text with all kinds of separators', ` ${ONE} ,\n;${TWO}; `, [ONE, TWO]],
	['the same twice', `${ONE} ${ONE}`, [ONE]],
	['nothing', '', []],
])('splits %s into session IDs', (_name, value, ids) => {
	expect(splitSessionIds(value)).toEqual(ids);
});
