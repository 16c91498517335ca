/** Every HTTP status that the document names has a row in the error table, or a reason why it needs none. */
import { ERRORS } from '../../nodes/shared/api/errorTable';
import { endpointsIn, sections } from './document';

const WITHOUT_ROW: { [status: string]: string } = {
	200: 'It means success.',
	500: 'The outcome is unknown, and response.ts explains it for every endpoint.',
};

const statusesIn = (text: string) =>
	[...text.matchAll(/`([1-5]\d\d)`/g)].map(([, code = '']) => code);

const table = sections().find(({ heading }) => heading === 'HTTP status codes')?.lines ?? [];
const inTable = table.flatMap((line) => statusesIn(line.split('|')[1] ?? ''));

/** The statuses in the section of an endpoint, such as `POST /v1/call 403`. */
const ofEndpoints = sections().flatMap(({ heading, lines }) =>
	endpointsIn(heading).flatMap((endpoint) =>
		statusesIn(lines.join('\n')).map((status) => ({ endpoint, status })),
	),
);

/** A row for every endpoint explains an endpoint's own status only if the document gives that status its meaning. */
const hasRow = (endpoint: string, status: string) =>
	ERRORS.some(({ code, raisedBy, statuses, documentedStatuses = [] }) => {
		const isListed = (statuses ?? documentedStatuses).includes(Number(status));
		return isListed && (raisedBy?.test(endpoint) ?? code !== undefined);
	});

const advice = (what: string) =>
	`${what}: add a row to ERRORS in nodes/shared/api/errorTable.ts, or a reason to WITHOUT_ROW in this test`;

test('reads the statuses of the document', () => {
	expect(inTable).toEqual(expect.arrayContaining(['200', '401', '500']));
	expect(ofEndpoints).toContainEqual({ endpoint: 'POST /v1/call', status: '403' });
});

test('each status of the table is in the error table', () => {
	const inErrors = new Set(
		ERRORS.flatMap(({ statuses = [], documentedStatuses = [] }) => [
			...statuses,
			...documentedStatuses,
		]).map(String),
	);
	const missing = inTable.filter((status) => !inErrors.has(status) && !(status in WITHOUT_ROW));
	expect(missing.map(advice)).toEqual([]);
});

test('each status that an endpoint names is in the error table for this endpoint', () => {
	const missing = ofEndpoints.filter(
		({ endpoint, status }) =>
			!(status in WITHOUT_ROW) && !hasRow(endpoint.replace(/\{\w+\}/g, 'id'), status),
	);
	expect(missing.map(({ endpoint, status }) => advice(`${endpoint} ${status}`))).toEqual([]);
});
