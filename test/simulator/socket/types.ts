import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { SocketToken } from '../chat/tokens';
import type { Session } from '../chat/types';

export interface Connection {
	ws: WebSocket;
	/** The TCP side, for dropping it silently. */
	raw: Duplex;
	session: Session;
	clientId: string;
	token: SocketToken;
	/** Dropped silently: the client still has its socket, but nothing arrives anymore. */
	silent: boolean;
	expiry: NodeJS.Timeout | null;
}

export interface ReceivedFrame {
	sessionId: string;
	clientId: string;
	at: number;
	text: string;
}
