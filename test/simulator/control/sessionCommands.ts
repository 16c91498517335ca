import type { Route } from '../http/route';
import { isObject, type JsonObject } from '../json';
import type { SessionControl } from '../socket/sessionControl';
import { command } from './command';

/** Chat sessions and sockets over HTTP. */
export function sessionCommands(sessions: SessionControl): Route[] {
	return [
		command(
			'createSession',
			({ agentUuid, person }) => sessions.create(text(agentUuid), text(person) ?? null).sessionId,
		),
		command('pushEvent', ({ sessionId, type, payload }) =>
			sessions.pushEvent(String(sessionId), String(type), isObject(payload) ? payload : {}),
		),
		command('pushRaw', ({ sessionId, frame, base64 }) =>
			sessions.pushRaw(
				String(sessionId),
				typeof base64 === 'string' ? Buffer.from(base64, 'base64') : String(frame),
			),
		),
		command('closeSockets', ({ code, sessionId, reason }) =>
			sessions.closeSockets(Number(code), text(sessionId), text(reason)),
		),
		command('cutSockets', ({ sessionId }) => sessions.cutSockets(text(sessionId))),
		command('dropSilently', ({ sessionId }) => sessions.dropSilently(text(sessionId))),
		command('sockets', ({ sessionId }) => ({
			open: sessions.openSockets(text(sessionId)),
			connected: sessions.connectedSockets(),
		})),
		command('frames', ({ sessionId }) => sessions.frames(text(sessionId))),
		command('expireTokens', () => sessions.expireTokens()),
		command('setAgentActive', ({ agentUuid, active }) =>
			sessions.setAgentActive(String(agentUuid), active === true),
		),
		command('goDormant', (body) => sessions.goDormant(sessionOf(body))),
		command('reactivate', (body) => sessions.reactivate(sessionOf(body))),
		command('closeSession', (body) => sessions.close(sessionOf(body))),
		command('setMode', (body) =>
			sessions.setMode(sessionOf(body), body.mode === 'support' ? 'support' : 'ai'),
		),
		command('deliveryUrl', ({ url }) => sessions.setDeliveryUrl(text(url) ?? null)),
	];
}

function text(value: unknown): string | undefined {
	return typeof value === 'string' ? value : undefined;
}

function sessionOf({ sessionId }: JsonObject): string {
	return String(sessionId);
}
