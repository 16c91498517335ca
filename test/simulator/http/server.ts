import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import mapValues from 'lodash/mapValues';
import { exampleOf } from '../../openapi/examples';
import { ENDPOINTS, idsIn, schemaOf, type Endpoint } from '../../openapi/openapi';
import { delay } from '../clock';
import { CONTROL_ROUTES } from '../control';
import { isObject, shownText } from '../json';
import { attachPage } from '../page/routes';
import { HANDLERS } from '../routes';
import { recordingFile } from '../routes/calls';
import type { Simulator } from '../simulator';
import { takesEffect, WITHOUT_FAULTS, type Fault } from './faults';
import {
	invalid,
	bytesOf,
	rejected,
	response,
	type Handler,
	type SimulatorRequest,
	type SimulatorResponse,
} from './route';
import { invalidRequest, requestProblems, requireDocumented } from './validation';

/** The document shows no limit. A request with 10,000 contacts is much smaller. */
const MAX_BODY_BYTES = 64_000_000;

/** Marks a body that is not JSON, because the token is checked first. */
const UNREADABLE = Symbol('unreadable body');

type Answer = (request: SimulatorRequest, reply: FastifyReply) => Promise<void>;

export function createServer(sim: Simulator): FastifyInstance {
	const app = Fastify({
		logger: false,
		exposeHeadRoutes: false,
		forceCloseConnections: true,
		bodyLimit: MAX_BODY_BYTES,
	});
	app.addHook('onRequest', async (request, reply) => {
		if (sim.isFor(request.headers)) return;
		await send(reply, rejected(421, 'Unknown host'));
		return reply;
	});
	app.removeAllContentTypeParsers();
	app.addContentTypeParser('*', { parseAs: 'string' }, (request, body, done) => {
		done(null, parsedBody(String(body), request.headers['content-type']));
	});
	const route = (endpoint: string, answer: Answer) => {
		const [method = '', url = ''] = endpoint.split(' ');
		app.route({
			method,
			url,
			handler: async (request, reply) => answer(described(request), reply),
		});
	};
	// A recording has a presigned URL: another path, and no token.
	const { pathname } = new URL(sim.dialect.calls.recordingUrl('http://127.0.0.1', '/'));
	const serveAt = (endpoint: string, handler: Handler) => {
		route(endpoint, async (request, reply) => await serve(sim, request, reply, handler));
	};
	serveAt(`GET ${pathname}:id`, recordingFile);
	for (const endpoint of ENDPOINTS) {
		serveAt(endpoint.name.replaceAll(/\{(\w+)\}/g, ':$1'), authenticated(validated(endpoint)));
	}
	for (const [endpoint, handler] of Object.entries(CONTROL_ROUTES)) {
		route(endpoint, async (request, reply) => await send(reply, await handler(sim, request)));
	}
	attachPage(sim, app);
	const unknown = authenticated(() => rejected(404, 'Not found'));
	app.setNotFoundHandler(async (request, reply) => {
		await serve(sim, described(request), reply, unknown);
	});
	// For a body over the limit, no route is called.
	app.setErrorHandler(async (caught: { statusCode?: number; message: string }, request, reply) => {
		const status = caught.statusCode ?? 500;
		const recorded = record(sim, described(request));
		Object.assign(recorded.outcome, { status, error: caught.message });
		await send(reply, rejected(status, caught.message));
	});
	return app;
}

/** Checks the token and the body before a route. */
function authenticated(handler: Handler): Handler {
	return async (sim, request) => {
		if (request.headers['api-token'] !== sim.token) return rejected(401, 'Invalid API token');
		if (request.body === UNREADABLE) return invalid(sim, ['Request body is not valid JSON'], 400);
		return await handler(sim, request);
	};
}

/** The example of the response, about the ID in the path. */
function exampleHandler({ path, responses }: Endpoint): Handler {
	const text = JSON.stringify(exampleOf(schemaOf(responses['200'])));
	const [id] = idsIn(path).map(exampleOf);
	return (_sim, { params }) => {
		const [requested] = Object.values(params);
		const body: unknown = JSON.parse(text, (_name, value: unknown) =>
			value === id ? requested : value,
		);
		return response(200, body);
	};
}

/** Checks a request by the description of the interface before a route, and an error after it. */
function validated(endpoint: Endpoint): Handler {
	const handler = HANDLERS[endpoint.operationId] ?? exampleHandler(endpoint);
	return async (sim, sent) => {
		const request = sim.read(endpoint.operationId, sent);
		const problems = requestProblems(endpoint, request, sim.dialect);
		const result =
			problems.length > 0 ? invalidRequest(sim, endpoint, problems) : await handler(sim, request);
		requireDocumented(endpoint, result);
		return result;
	};
}

function parsedBody(text: string, contentType: string | undefined): unknown {
	if (text === '') return undefined;
	if (contentType?.startsWith('application/json') !== true) return UNREADABLE;
	try {
		return JSON.parse(text);
	} catch {
		return UNREADABLE;
	}
}

function described(request: FastifyRequest): SimulatorRequest {
	const strings = (values: unknown) => (isObject(values) ? mapValues(values, String) : {});
	return {
		method: request.method,
		path: request.url.split('?')[0] ?? '',
		params: strings(request.params),
		query: strings(request.query),
		headers: request.headers,
		body: request.body ?? undefined,
	};
}

function record(sim: Simulator, { method, path, query, headers, body }: SimulatorRequest) {
	return sim.log.open({
		method,
		path,
		query,
		headers,
		body: body === UNREADABLE ? undefined : body,
		at: sim.clock.now(),
		outcome: {},
	});
}

async function serve(
	sim: Simulator,
	request: SimulatorRequest,
	reply: FastifyReply,
	handler: Handler,
): Promise<void> {
	const { outcome } = record(sim, request);
	sim.log.started();
	reply.raw.once('close', () => sim.log.ended());
	const isFaultless = WITHOUT_FAULTS in request.headers;
	const fault = isFaultless ? undefined : sim.faults.take(request.method, request.path);
	if (fault) outcome.fault = fault.kind;
	const sent = await responseTo(sim, request, handler, fault);
	if (sent === undefined) {
		reply.hijack();
		// After `hang`, the socket stays open until the simulator stops.
		if (fault?.kind !== 'hang') reply.raw.destroy();
		return;
	}
	outcome.status = sent.status;
	const error = isObject(sent.body) ? sent.body.error : undefined;
	if (typeof error === 'string') outcome.error = error;
	if (sim.keepsResponses) outcome.responseText = textOf(sent.body);
	await send(reply, isFaultless ? sent : sim.tampered(sent));
}

/** Undefined if there is no response, because of a fault. */
async function responseTo(
	sim: Simulator,
	request: SimulatorRequest,
	handler: Handler,
	fault: Fault | undefined,
): Promise<SimulatorResponse | undefined> {
	if (fault?.kind === 'resetBefore') return undefined;
	const isHandled = fault === undefined || takesEffect(fault);
	const handled = isHandled ? await handler(sim, request) : undefined;
	if (sim.held?.path.test(request.path) === true) await sim.held.released;
	await delay(sim.settings.latencyMs ?? 0);
	if (fault === undefined) return handled;
	const { kind, status = 500, headers = {} } = fault;
	const { body = rejected(status, 'Internal server error').body } = fault;
	return kind === 'status' ? { ...response(status, body), headers } : undefined;
}

async function send(reply: FastifyReply, sent: SimulatorResponse): Promise<void> {
	const headers = { 'content-type': 'application/json; charset=utf-8', ...sent.headers };
	await reply.code(sent.status).headers(headers).send(bytesOf(sent.body));
}

function textOf(body: unknown): string {
	return Buffer.isBuffer(body) ? `${body.length} bytes` : shownText(body);
}
