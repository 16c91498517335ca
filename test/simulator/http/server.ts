import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { delay } from '../clock';
import { isObject, shownText } from '../json';
import type { SimulatorState } from '../world';
import { attachPage } from '../page/routes';
import { response, invalid, rejected, type SimulatorResponse } from './responses';
import { takesEffect } from './faults';
import type { RecordedRequest } from './requestLog';
import type { Route, SimulatorRequest } from './route';
import { faultyResponse, retryAfterHeader, send } from './send';

/** Marks a body that is not JSON, because the token is checked first. */
const UNREADABLE = Symbol('unreadable body');

export function createServer(
	world: SimulatorState,
	routes: Route[],
	control: Route[],
): FastifyInstance {
	const app = Fastify({
		logger: false,
		exposeHeadRoutes: false,
		forceCloseConnections: true,
		bodyLimit: world.dialect.general.maxBodyBytes,
	});
	app.removeAllContentTypeParsers();
	app.addContentTypeParser('*', { parseAs: 'string' }, (request, body, done) => {
		done(null, parsedBody(String(body), request.headers['content-type']));
	});

	for (const route of routes) {
		app.route({
			method: route.method,
			url: route.path,
			handler: async (request, reply) => await serve(world, request, reply, route),
		});
	}
	for (const route of control) {
		app.route({
			method: route.method,
			url: route.path,
			handler: async (request, reply) => {
				await send(reply, await route.handle(described(request)));
			},
		});
	}
	attachPage(world, app);
	app.setNotFoundHandler(async (request, reply) => await serve(world, request, reply, null));
	// For a body over the limit, no route is called.
	app.setErrorHandler(async (caught: { statusCode?: number; message: string }, request, reply) => {
		const status = caught.statusCode ?? 500;
		const recorded = record(world, described(request));
		Object.assign(recorded.outcome, { status, error: caught.message });
		await send(reply, rejected(status, caught.message));
	});
	return app;
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
	return {
		method: request.method,
		path: request.url.split('?')[0] ?? '',
		params: isObject(request.params) ? strings(request.params) : {},
		query: isObject(request.query) ? strings(request.query) : {},
		headers: request.headers,
		body: request.body ?? undefined,
	};
}

function strings(values: Record<string, unknown>): Record<string, string> {
	return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)]));
}

async function serve(
	world: SimulatorState,
	raw: FastifyRequest,
	reply: FastifyReply,
	route: Route | null,
): Promise<void> {
	const request = described(raw);
	const recorded = record(world, request);
	world.log.started();
	reply.raw.once('close', () => world.log.ended());
	await respond(world, request, recorded, reply, route);
}

function record(world: SimulatorState, request: SimulatorRequest): RecordedRequest {
	const recorded: RecordedRequest = {
		method: request.method,
		path: request.path,
		query: request.query,
		headers: request.headers,
		body: request.body === UNREADABLE ? undefined : request.body,
		at: world.clock.now(),
		outcome: { token: world.tokenCheck(request.headers) },
	};
	world.log.open(recorded);
	return recorded;
}

async function respond(
	world: SimulatorState,
	request: SimulatorRequest,
	{ outcome }: RecordedRequest,
	reply: FastifyReply,
	route: Route | null,
): Promise<void> {
	const fault = world.faults.take(request.method, request.path);
	if (fault) outcome.fault = fault.kind;
	if (fault?.kind === 'resetBefore') {
		cut(reply);
		return;
	}

	const handled =
		!fault || takesEffect(fault)
			? await handledResponse(world, request, route, outcome.token)
			: undefined;
	if (world.held?.path.test(request.path) === true) await world.held.released;
	await delay((world.settings.latencyMs ?? 0) + (fault?.latencyMs ?? 0));
	if (fault?.kind === 'resetAfter') {
		cut(reply);
		return;
	}
	if (fault?.kind === 'hang') {
		// The socket stays open until the simulator stops.
		reply.hijack();
		return;
	}

	const changed =
		fault && faultyResponse(fault, world.dialect, `${world.baseUrl}/elsewhere`, handled);
	const sent = changed ?? handled ?? rejected(500, 'Internal server error');
	outcome.status = sent.status;
	const originalMessage = isObject(sent.body) ? sent.body.error : undefined;
	if (typeof originalMessage === 'string') outcome.error = originalMessage;
	if (world.keepsResponses) outcome.responseText = textOf(sent.body);
	await send(reply, withHeaders(world, sent, route), fault, outcome);
}

function textOf(body: unknown): string {
	return Buffer.isBuffer(body) ? `${body.length} bytes` : shownText(body);
}

function cut(reply: FastifyReply): void {
	reply.hijack();
	reply.raw.destroy();
}

async function handledResponse(
	world: SimulatorState,
	request: SimulatorRequest,
	route: Route | null,
	token: RecordedRequest['outcome']['token'],
): Promise<SimulatorResponse> {
	if (token !== 'valid' && route?.open !== true) return rejected(401, 'Invalid API token');
	if (world.overRate()) {
		return {
			status: 429,
			body: world.dialect.general.tooManyBody,
			headers: retryAfterHeader(world.dialect, 1),
		};
	}
	if (!route) return response(404, world.dialect.general.unknownPath);
	if (request.body === UNREADABLE)
		return invalid(world.dialect, [world.dialect.general.badJson], 400);
	return await route.handle(request);
}

function withHeaders(
	world: SimulatorState,
	sent: SimulatorResponse,
	route: Route | null,
): SimulatorResponse {
	const { versionHeader, legacyHeaders } = world.dialect.general;
	const headers = {
		...(versionHeader === null ? {} : { [versionHeader]: '1.0.0' }),
		...(route?.legacy === true ? legacyHeaders : {}),
		...sent.headers,
	};
	return { ...sent, headers };
}
